//! Draws a chart as SVG: lines and markers, each with its name in the right margin.

use core::fmt::Write as _;

use super::axis::Axis;
use super::labels::{self, Frame};

/// As wide as a text column; the text is legible at this size.
const WIDTH: i32 = 900;
const HEIGHT: i32 = 540;
/// The space between the frame and the names of the lines, and the length of a sample of the line there.
const SPACE: i32 = 14;
const SAMPLE: i32 = 30;
/// The approximate width of a bold letter.
const LETTER: i32 = 8;
/// Fonts of browsers, viewers and editors, in order of preference.
const FONTS: &str = "Helvetica, Arial, DejaVu Sans, sans-serif";
const TEXT: &str = "#222";
const QUIET: &str = "#666";
const FAINT: &str = "#aaa";
const GRID: &str = "#e5e5e5";

/// What is drawn where the points are.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Marker {
    Circle,
    Square,
    Diamond,
    Up,
    Down,
}

/// How a line looks. Colour, marker and dash together distinguish it; none of them needs to do so by itself.
#[derive(Clone, Copy, Debug)]
pub(super) struct Look {
    pub(super) colour: &'static str,
    pub(super) marker: Option<Marker>,
    /// Lengths of dashes and gaps.
    pub(super) dash: Option<&'static str>,
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
        let letters = self.lines.iter().map(|line| line.name.chars().count()).max();
        let names = LETTER * letters.unwrap_or_default() as i32;
        let right = WIDTH - (SPACE + SAMPLE + 12 + names);
        let frame = Frame { left: 78, right, top: 78, bottom: HEIGHT - 62 };
        let mut svg = Svg(format!(
            "<svg width=\"{WIDTH}\" height=\"{HEIGHT}\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" \
             xmlns=\"http://www.w3.org/2000/svg\" font-family=\"{FONTS}\">\n\
             <rect width=\"{WIDTH}\" height=\"{HEIGHT}\" fill=\"#fff\"/>\n"
        ));
        svg.text((16.0, 28.0), "start", (17, TEXT, true), &self.title);
        svg.text((16.0, 51.0), "start", (13, QUIET, false), self.y.label);
        let centre = f64::from(frame.left + frame.right) / 2.0;
        svg.text((centre, f64::from(HEIGHT - 17)), "middle", (13, QUIET, false), self.x.label);
        self.draw_axes(&mut svg, &frame);
        // Lines and markers.
        let place = |&(x, y): &(f64, f64)| (frame.x(self.x.share(x)), frame.y(self.y.share(y)));
        let mut ends = Vec::new();
        for line in &self.lines {
            let path: Vec<_> = line.line.iter().map(place).collect();
            let points: Vec<_> = line.points.iter().map(place).collect();
            svg.path(&path, line.look.colour, 2, line.look.dash);
            points.iter().for_each(|&point| svg.mark(point, line.look));
            ends.extend(path.last().or(points.last()).map(|&end| (line, end)));
        }
        draw_names(&mut svg, &frame, &ends);
        svg.0 + "</svg>\n"
    }

    /// Draws the grid, the axes with their ticks, and the marks.
    fn draw_axes(&self, svg: &mut Svg, frame: &Frame) {
        let (left, right) = (f64::from(frame.left), f64::from(frame.right));
        let (top, bottom) = (f64::from(frame.top), f64::from(frame.bottom));
        for (share, shown) in self.x.ticks() {
            let x = frame.x(share);
            svg.path(&[(x, top), (x, bottom)], GRID, 1, None);
            svg.path(&[(x, bottom), (x, bottom + 4.0)], QUIET, 1, None);
            svg.text((x, bottom + 19.0), "middle", (13, TEXT, false), &shown);
        }
        for (share, shown) in self.y.ticks() {
            let y = frame.y(share);
            svg.path(&[(left, y), (right, y)], GRID, 1, None);
            svg.path(&[(left - 4.0, y), (left, y)], QUIET, 1, None);
            svg.text((left - 8.0, y + 4.5), "end", (13, TEXT, false), &shown);
        }
        svg.path(&[(left, top), (left, bottom), (right, bottom)], QUIET, 1, None);
        for (value, name) in &self.marks {
            let share = self.x.share(*value);
            if (0.0..=1.0).contains(&share) {
                let x = frame.x(share);
                svg.path(&[(x, top), (x, bottom)], FAINT, 1, Some("3 3"));
                svg.text((x, top - 6.0), "middle", (12, QUIET, false), name);
            }
        }
    }
}

/// Draws the names of the lines in the margin, each near the end of its line.
fn draw_names(svg: &mut Svg, frame: &Frame, ends: &[(&Line, (f64, f64))]) {
    let wanted: Vec<i32> = ends.iter().map(|(_, end)| end.1.round() as i32).collect();
    let heights = labels::spread(&wanted, 18, frame);
    for (&(line, end), height) in ends.iter().zip(heights) {
        let (right, height) = (f64::from(frame.right), f64::from(height));
        let start = f64::from(frame.right + SPACE);
        let leader = [(end.0 + 6.0, end.1), (right, end.1), (start - 3.0, height)];
        svg.path(&leader, GRID, 1, None);
        let after = start + f64::from(SAMPLE);
        if !line.line.is_empty() {
            svg.path(&[(start, height), (after, height)], line.look.colour, 2, line.look.dash);
        }
        svg.mark((f64::midpoint(start, after), height), line.look);
        svg.text((after + 6.0, height + 4.5), "start", (13, TEXT, line.look.bold), &line.name);
    }
}

/// A document without its end.
struct Svg(String);

impl Svg {
    fn text(
        &mut self,
        (x, y): (f64, f64),
        anchor: &str,
        (size, colour, bold): (i32, &str, bool),
        words: &str,
    ) {
        let words = words.replace('&', "&amp;").replace('<', "&lt;");
        let weight = if bold { " font-weight=\"bold\"" } else { "" };
        let _ = writeln!(
            self.0,
            "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\" font-size=\"{size}\" \
             fill=\"{colour}\"{weight}>{words}</text>"
        );
    }

    /// Draws straight lines from point to point.
    fn path(&mut self, points: &[(f64, f64)], colour: &str, width: u32, dash: Option<&str>) {
        if !points.is_empty() {
            let dash = dash.map(|dash| format!(" stroke-dasharray=\"{dash}\"")).unwrap_or_default();
            let _ = writeln!(
                self.0,
                "<polyline points=\"{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"{width}\"{dash}/>",
                listed(points)
            );
        }
    }

    /// Draws the marker, with a white edge that separates it from what is below.
    fn mark(&mut self, (x, y): (f64, f64), look: Look) {
        /// The radius to the middle of the edge.
        const RADIUS: f64 = 4.6;
        let corners: &[(f64, f64)] = match look.marker {
            None => return,
            Some(Marker::Circle) => &[],
            Some(Marker::Square) => &[(-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9)],
            Some(Marker::Diamond) => &[(0.0, -1.3), (1.3, 0.0), (0.0, 1.3), (-1.3, 0.0)],
            Some(Marker::Up) => &[(0.0, -1.3), (1.15, 0.85), (-1.15, 0.85)],
            Some(Marker::Down) => &[(0.0, 1.3), (1.15, -0.85), (-1.15, -0.85)],
        };
        let shape = if corners.is_empty() {
            format!("circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{RADIUS}\"")
        } else {
            let corner = |&(right, down): &(f64, f64)| (x + right * RADIUS, y + down * RADIUS);
            let corners: Vec<_> = corners.iter().map(corner).collect();
            format!("polygon points=\"{}\"", listed(&corners))
        };
        let colour = look.colour;
        let _ =
            writeln!(self.0, "<{shape} fill=\"{colour}\" stroke=\"#fff\" stroke-width=\"0.8\"/>");
    }
}

/// Returns points as SVG lists them.
fn listed(points: &[(f64, f64)]) -> String {
    points.iter().map(|(x, y)| format!("{x:.1},{y:.1}")).collect::<Vec<_>>().join(" ")
}
