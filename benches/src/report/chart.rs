//! Draws a chart as SVG: lines and markers, each with its name in the right margin.

use core::fmt::Write as _;
use core::ops::Range;

use super::axis::Axis;

/// As wide as a text column; the text is legible at this size.
const WIDTH: f64 = 900.0;
const HEIGHT: f64 = 540.0;
/// The edges of the plot.
const LEFT: f64 = 78.0;
const TOP: f64 = 78.0;
const BOTTOM: f64 = HEIGHT - 62.0;
const TICK: f64 = 4.0;
/// The space between the plot and the names of the lines, and the length of a sample of the line there.
const SPACE: f64 = 14.0;
const SAMPLE: f64 = 30.0;
/// The approximate width of a bold letter, and the height of a name.
const LETTER: f64 = 8.0;
const NAME: f64 = 18.0;
/// Fonts of browsers, viewers and editors, in order of preference.
const FONT: &str = "Helvetica, Arial, DejaVu Sans, sans-serif";
const TEXT: &str = "#222";
const QUIET: &str = "#666";
const FAINT: &str = "#aaa";
const GRID: &str = "#e5e5e5";

/// A place in the drawing; `y` grows downwards.
type At = (f64, f64);

/// How a line looks. Colour, marker and dash together distinguish it; none of them needs to do so by itself.
#[derive(Clone, Copy, Debug)]
pub(super) struct Look {
    pub(super) colour: &'static str,
    /// The outline of what is drawn where the points are, as an SVG path around (0, 0); empty for nothing.
    pub(super) marker: &'static str,
    /// Lengths of dashes and gaps, or `none`.
    pub(super) dash: &'static str,
    pub(super) bold: bool,
}

/// A line with its name. Its points are on it, or they are others: measurements, where the line is a theory.
#[derive(Clone, Debug)]
pub(super) struct Line {
    pub(super) name: String,
    pub(super) look: Look,
    pub(super) line: Vec<(f64, f64)>,
    pub(super) points: Vec<(f64, f64)>,
}

/// A chart; `marks` are vertical lines at values of the x axis.
#[derive(Clone, Debug)]
pub(super) struct Chart {
    pub(super) title: String,
    pub(super) x: Axis,
    pub(super) y: Axis,
    pub(super) lines: Vec<Line>,
    pub(super) marks: Vec<(f64, String)>,
}

impl Chart {
    /// Returns the chart as an SVG document.
    pub(super) fn svg(&self) -> String {
        let mut svg = Svg(format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH}\" height=\"{HEIGHT}\" \
             viewBox=\"0 0 {WIDTH} {HEIGHT}\" font-family=\"{FONT}\" font-size=\"13\">\n\
             <rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n"
        ));
        let letters = self.lines.iter().map(|line| line.name.chars().count()).max();
        let names = LETTER * letters.unwrap_or_default() as f64;
        let right = WIDTH - SPACE - SAMPLE - 12.0 - names;
        let column = |share: f64| LEFT + share * (right - LEFT);
        let row = |share: f64| BOTTOM - share * (BOTTOM - TOP);
        let place =
            |point: &(f64, f64)| (column(self.x.share(point.0)), row(self.y.share(point.1)));
        svg.text(&self.title, (16.0, 27.0), "start", TEXT, "font-size=\"17\" font-weight=\"bold\"");
        svg.text(self.y.label, (16.0, 50.0), "start", QUIET, "");
        svg.text(self.x.label, ((LEFT + right) / 2.0, HEIGHT - 17.0), "middle", QUIET, "");
        // The grid and the axes.
        for (share, label) in self.x.ticks() {
            let at = column(share);
            svg.line(&[(at, TOP), (at, BOTTOM + TICK)], GRID, 1, "none");
            svg.text(&label, (at, BOTTOM + 19.0), "middle", TEXT, "");
        }
        for (share, label) in self.y.ticks() {
            let at = row(share);
            svg.line(&[(LEFT - TICK, at), (right, at)], GRID, 1, "none");
            svg.text(&label, (LEFT - 8.0, at + 4.0), "end", TEXT, "");
        }
        svg.line(&[(LEFT, TOP), (LEFT, BOTTOM), (right, BOTTOM)], QUIET, 1, "none");
        for (value, name) in &self.marks {
            let share = self.x.share(*value);
            if (0.0..=1.0).contains(&share) {
                let at = column(share);
                svg.line(&[(at, TOP), (at, BOTTOM)], FAINT, 1, "3 3");
                svg.text(name, (at, TOP - 6.0), "middle", QUIET, "font-size=\"12\"");
            }
        }
        // The lines.
        let mut ends = Vec::new();
        for line in &self.lines {
            let corners: Vec<At> = line.line.iter().map(place).collect();
            let points: Vec<At> = line.points.iter().map(place).collect();
            svg.line(&corners, line.look.colour, 2, line.look.dash);
            points.iter().for_each(|&point| svg.marker(point, line.look));
            ends.extend(corners.last().or(points.last()).map(|&end| (line, end)));
        }
        svg.names(right, &ends);
        svg.0 + "</svg>\n"
    }
}

/// The document, as far as it is written.
struct Svg(String);

impl Svg {
    fn write(&mut self, element: core::fmt::Arguments<'_>) {
        writeln!(self.0, "{element}").expect("a string takes all");
    }

    /// Writes at a place: its `anchor`, start, middle or end, is there.
    fn text(&mut self, words: &str, (x, y): At, anchor: &str, colour: &str, style: &str) {
        let words = words.replace('&', "&amp;").replace('<', "&lt;");
        self.write(format_args!(
            "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\" fill=\"{colour}\" {style}>{words}</text>"
        ));
    }

    /// Draws straight lines from point to point.
    fn line(&mut self, points: &[At], colour: &str, width: u8, dash: &str) {
        let points: Vec<String> = points.iter().map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
        self.write(format_args!(
            "<polyline points=\"{}\" fill=\"none\" stroke=\"{colour}\" \
             stroke-width=\"{width}\" stroke-dasharray=\"{dash}\"/>",
            points.join(" ")
        ));
    }

    /// Draws the marker, with a white edge that separates it from what is below.
    fn marker(&mut self, (x, y): At, Look { colour, marker, .. }: Look) {
        self.write(format_args!(
            "<path d=\"{marker}\" transform=\"translate({x:.1},{y:.1})\" fill=\"{colour}\" stroke=\"#fff\" \
             stroke-width=\"1.5\" paint-order=\"stroke\"/>"
        ));
    }

    /// Draws the names of the lines in the margin right of `right`, each near the end of its line.
    fn names(&mut self, right: f64, ends: &[(&Line, At)]) {
        let wanted: Vec<f64> = ends.iter().map(|(_, end)| end.1).collect();
        let heights = spread(&wanted, NAME, &(TOP..BOTTOM));
        for (&(line, end), height) in ends.iter().zip(heights) {
            let (look, start) = (line.look, right + SPACE);
            self.line(
                &[(end.0 + 6.0, end.1), (right, end.1), (start - 3.0, height)],
                GRID,
                1,
                "none",
            );
            if !line.line.is_empty() {
                self.line(&[(start, height), (start + SAMPLE, height)], look.colour, 2, look.dash);
            }
            self.marker((start + SAMPLE / 2.0, height), look);
            let weight = if look.bold { "font-weight=\"bold\"" } else { "" };
            self.text(&line.name, (start + SAMPLE + 6.0, height + 4.0), "start", TEXT, weight);
        }
    }
}

/// Returns heights `gap` apart or more, in the order of those wanted and near them, and inside the rows of the
/// plot while there is room.
fn spread(wanted: &[f64], gap: f64, rows: &Range<f64>) -> Vec<f64> {
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
