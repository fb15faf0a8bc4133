//! Heights for names next to a chart, so that none covers another.

use core::ops::Range;

/// Returns heights `gap` apart or more, in the order of those wanted and near them, and inside the rows of the
/// plot while there is room.
pub(super) fn spread(wanted: &[i32], gap: i32, rows: &Range<i32>) -> Vec<i32> {
    let mut order: Vec<usize> = (0..wanted.len()).collect();
    order.sort_by_key(|&index| wanted[index]);
    // Names that would touch form a block around their mean; a block that touches the next absorbs it.
    let mut blocks: Vec<Vec<usize>> = Vec::new();
    let top_of = |block: &[usize]| {
        let offsets = block.iter().zip(0..).map(|(&index, place)| wanted[index] - place * gap);
        let count = block.len() as i32;
        let room = (rows.end - (count - 1) * gap).max(rows.start);
        (offsets.sum::<i32>() / count).clamp(rows.start, room)
    };
    for index in order {
        let mut block = vec![index];
        while let Some(above) = blocks.pop() {
            if top_of(&above) + above.len() as i32 * gap <= top_of(&block) {
                blocks.push(above);
                break;
            }
            block = [above, block].concat();
        }
        blocks.push(block);
    }
    let mut heights = vec![0; wanted.len()];
    for block in &blocks {
        for (&index, place) in block.iter().zip(0..) {
            heights[index] = top_of(block) + place * gap;
        }
    }
    heights
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_do_not_touch() {
        let rows = 0..100;
        assert_eq!(spread(&[50, 10], 10, &rows), [50, 10]);
        assert_eq!(spread(&[50, 50], 10, &rows), [45, 55]);
        assert_eq!(spread(&[100, 99, 98, 70], 10, &rows), [100, 90, 80, 70]);
        assert_eq!(spread(&[30, 32, 34, 51], 10, &rows), [21, 31, 41, 51]);
        assert_eq!(spread(&[], 10, &rows), [0; 0]);
    }
}
