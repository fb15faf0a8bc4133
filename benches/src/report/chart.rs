//! Draws a chart as SVG: lines and markers, each with its name in the right margin.

use core::error::Error;
use core::ops::Range;

use plotters::coord::Shift;
use plotters::element::DashedPathElement;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::axis::Axis;

/// A pixel of the chart as it is shown. It is drawn larger, because plotters rounds to whole
/// numbers.
const PX: i32 = 8;
/// As wide as a text column; the text is legible at this size.
const WIDTH: i32 = 900 * PX;
const HEIGHT: i32 = 540 * PX;
/// The space between the plot and the names of the lines, and the length of a sample of the line
/// there.
const SPACE: i32 = 14 * PX;
const SAMPLE: i32 = 30 * PX;
/// The approximate width of a bold letter, and the height of a name.
const LETTER: i32 = 8 * PX;
const NAME: i32 = 18 * PX;
/// Fonts of browsers, viewers and editors, in order of preference.
const FONT: FontFamily<'_> = FontFamily::Name("Helvetica, Arial, DejaVu Sans, sans-serif");
const TEXT: RGBColor = RGBColor(34, 34, 34);
const QUIET: RGBColor = RGBColor(102, 102, 102);
const FAINT: RGBColor = RGBColor(170, 170, 170);
const GRID: RGBColor = RGBColor(229, 229, 229);

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;
type Drawn = Result<(), DrawingAreaErrorKind<std::io::Error>>;
/// A place in the drawing; the second coordinate grows downwards.
type At = (i32, i32);

/// What is drawn where the points are.
#[derive(Clone, Copy, Debug)]
pub(super) enum Marker {
    None,
    Circle,
    /// With these corners, where the radius of a circle is 1.
    Polygon(&'static [(f64, f64)]),
}

/// How a line looks. Colour, marker and dash together distinguish it; none of them needs to do so
/// by itself.
#[derive(Clone, Copy, Debug)]
pub(super) struct Look {
    pub(super) colour: RGBColor,
    pub(super) marker: Marker,
    /// The length of dashes, and that of the gaps between them, in pixels; none for a solid line.
    pub(super) dash: Option<(i32, i32)>,
    pub(super) bold: bool,
}

/// A line with its name. Its points are on it, or they are others: measurements, where the line is
/// a theory.
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
    pub(super) fn svg(&self) -> Result<String, Box<dyn Error>> {
        let mut svg = String::new();
        let size = (WIDTH as u32, HEIGHT as u32);
        self.draw(&SVGBackend::with_string(&mut svg, size).into_drawing_area())?;
        let drawn = format!("width=\"{WIDTH}\" height=\"{HEIGHT}\"");
        let shown = format!("width=\"{}\" height=\"{}\"", WIDTH / PX, HEIGHT / PX);
        Ok(svg.replacen(&drawn, &shown, 1))
    }

    fn draw(&self, area: &Area<'_>) -> Drawn {
        let Self { title, x, y, lines, marks } = self;
        area.fill(&WHITE)?;
        area.draw_text(title, &font(17, TEXT, true, HPos::Left), (16 * PX, 22 * PX))?;
        area.draw_text(y.label, &font(13, QUIET, false, HPos::Left), (16 * PX, 46 * PX))?;
        // The grid and the axes, with space for what is drawn around them.
        let letters = lines.iter().map(|line| line.name.chars().count()).max();
        let names = LETTER * letters.unwrap_or_default() as i32;
        let mut chart = ChartBuilder::on(area)
            .margin_top(78 * PX)
            .margin_right(SPACE + SAMPLE + 12 * PX + names)
            .x_label_area_size(62 * PX)
            .y_label_area_size(78 * PX)
            .build_cartesian_2d(x.clone(), y.clone())?;
        chart
            .configure_mesh()
            .light_line_style(TRANSPARENT)
            .bold_line_style(GRID.stroke_width(PX as u32))
            .axis_style(QUIET.stroke_width(PX as u32))
            .label_style(font(13, TEXT, false, HPos::Left))
            .set_all_tick_mark_size(4 * PX)
            .draw()?;
        let (columns, rows) = chart.plotting_area().get_pixel_range();
        let below = ((columns.start + columns.end) / 2, HEIGHT - 20 * PX);
        area.draw_text(x.label, &font(13, QUIET, false, HPos::Center), below)?;
        for (value, name) in marks.iter().filter(|(value, _)| x.range().contains(value)) {
            let (at, _) = chart.backend_coord(&(*value, y.range().start));
            draw_path(area, &[(at, rows.start), (at, rows.end)], (FAINT, 1), Some((3, 3)))?;
            let above = (at, rows.start - 9 * PX);
            area.draw_text(name, &font(12, QUIET, false, HPos::Center), above)?;
        }
        // The lines.
        let place = |point: &(f64, f64)| chart.backend_coord(point);
        let mut ends = Vec::new();
        for line in lines {
            let corners: Vec<At> = line.line.iter().map(place).collect();
            let points: Vec<At> = line.points.iter().map(place).collect();
            draw_path(area, &corners, (line.look.colour, 2), line.look.dash)?;
            points.iter().try_for_each(|&point| draw_marker(area, point, line.look))?;
            ends.extend(corners.last().or(points.last()).map(|&end| (line, end)));
        }
        draw_names(area, columns.end, &rows, &ends)
    }
}

/// Returns a font for text whose middle line, and this side of it, is where it is drawn.
fn font(size: i32, colour: RGBColor, bold: bool, side: HPos) -> TextStyle<'static> {
    let style = if bold { FontStyle::Bold } else { FontStyle::Normal };
    // plotters writes the size of a font divided by this into the SVG.
    let font = FontDesc::new(FONT, f64::from(size * PX) * 1.24, style);
    font.color(&colour).pos(Pos::new(side, VPos::Center))
}

/// Draws straight lines from point to point; this wide, with dashes if any, both in pixels.
fn draw_path(
    area: &Area<'_>,
    points: &[At],
    (colour, width): (RGBColor, i32),
    dash: Option<(i32, i32)>,
) -> Drawn {
    let style = colour.stroke_width((width * PX) as u32);
    match dash {
        None => area.draw(&PathElement::new(points, style)),
        Some((dash, gap)) => {
            let points = points.iter().copied();
            area.draw(&DashedPathElement::new(points, dash * PX, gap * PX, style))
        }
    }
}

/// Draws the marker, with a white edge that separates it from what is below.
fn draw_marker(area: &Area<'_>, at: At, look: Look) -> Drawn {
    for (radius, colour) in [(5.0, WHITE), (4.25, look.colour)] {
        let radius = radius * f64::from(PX);
        let corner = |(x, y): &(f64, f64)| (at.0 + (x * radius) as i32, at.1 + (y * radius) as i32);
        match look.marker {
            Marker::None => {}
            Marker::Circle => area.draw(&Circle::new(at, radius as i32, colour.filled()))?,
            Marker::Polygon(corners) => {
                let corners: Vec<At> = corners.iter().map(corner).collect();
                area.draw(&Polygon::new(corners, colour.filled()))?;
            }
        }
    }
    Ok(())
}

/// Draws the names of the lines in the margin right of `right`, each near the end of its line.
fn draw_names(area: &Area<'_>, right: i32, rows: &Range<i32>, ends: &[(&Line, At)]) -> Drawn {
    let wanted: Vec<i32> = ends.iter().map(|(_, end)| end.1).collect();
    for (&(line, end), height) in ends.iter().zip(spread(&wanted, NAME, rows)) {
        let (look, start) = (line.look, right + SPACE);
        let leader = [(end.0 + 6 * PX, end.1), (right, end.1), (start - 3 * PX, height)];
        draw_path(area, &leader, (GRID, 1), None)?;
        if !line.line.is_empty() {
            let sample = [(start, height), (start + SAMPLE, height)];
            draw_path(area, &sample, (look.colour, 2), look.dash)?;
        }
        draw_marker(area, (start + SAMPLE / 2, height), look)?;
        let style = font(13, TEXT, look.bold, HPos::Left);
        area.draw_text(&line.name, &style, (start + SAMPLE + 6 * PX, height))?;
    }
    Ok(())
}

/// Returns heights `gap` apart or more, in the order of those wanted and near them, and inside the
/// rows of the plot while there is room.
fn spread(wanted: &[i32], gap: i32, rows: &Range<i32>) -> Vec<i32> {
    let mut order: Vec<usize> = (0..wanted.len()).collect();
    order.sort_by_key(|&index| wanted[index]);
    // Names that would touch form a block around their mean; a block that touches the next absorbs
    // it.
    let mut blocks: Vec<Vec<usize>> = Vec::new();
    let top_of = |block: &[usize]| {
        let offsets = block.iter().zip(0..).map(|(&index, nth)| wanted[index] - nth * gap);
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
        for (&index, nth) in block.iter().zip(0..) {
            heights[index] = top_of(block) + nth * gap;
        }
    }
    heights
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_do_not_touch() {
        let spread = |wanted: &[i32]| spread(wanted, 10, &(0..100));
        assert_eq!(spread(&[50, 10]), [50, 10]);
        assert_eq!(spread(&[50, 50]), [45, 55]);
        assert_eq!(spread(&[100, 99, 98, 70]), [100, 90, 80, 70]);
        assert_eq!(spread(&[30, 32, 34, 51]), [21, 31, 41, 51]);
        assert_eq!(spread(&[]), [0; 0]);
    }
}
