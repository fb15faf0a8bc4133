//! Heights for names next to a chart, so that none covers another.

use core::ops::Range;

/// Returns heights `gap` apart or more, in the order of those wanted and near them, and inside the rows of the
/// plot while there is room.
pub(super) fn spread(wanted: &[f64], gap: f64, rows: &Range<f64>) -> Vec<f64> {
    let mut order: Vec<usize> = (0..wanted.len()).collect();
    order.sort_by(|&a, &b| wanted[a].total_cmp(&wanted[b]));
    // Names that would touch form a block around their mean; a block that touches the next absorbs it.
    let mut blocks: Vec<Vec<usize>> = Vec::new();
    let top_of = |block: &[usize]| {
        let offsets =
            block.iter().enumerate().map(|(nth, &index)| wanted[index] - nth as f64 * gap);
        let count = block.len() as f64;
        let room = (rows.end - (count - 1.0) * gap).max(rows.start);
        (offsets.sum::<f64>() / count).clamp(rows.start, room)
    };
    for index in order {
        let mut block = vec![index];
        while let Some(above) = blocks.pop() {
            if top_of(&above) + above.len() as f64 * gap <= top_of(&block) {
                blocks.push(above);
                break;
            }
            block = [above, block].concat();
        }
        blocks.push(block);
    }
    let mut heights = vec![0.0; wanted.len()];
    for block in &blocks {
        for (nth, &index) in block.iter().enumerate() {
            heights[index] = top_of(block) + nth as f64 * gap;
        }
    }
    heights
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_do_not_touch() {
        let spread = |wanted: &[f64]| spread(wanted, 10.0, &(0.0..100.0));
        assert_eq!(spread(&[50.0, 10.0]), [50.0, 10.0]);
        assert_eq!(spread(&[50.0, 50.0]), [45.0, 55.0]);
        assert_eq!(spread(&[100.0, 99.0, 98.0, 70.0]), [100.0, 90.0, 80.0, 70.0]);
        assert_eq!(spread(&[30.0, 32.0, 34.0, 52.0]), [22.0, 32.0, 42.0, 52.0]);
        assert_eq!(spread(&[]), [0.0; 0]);
    }
}
