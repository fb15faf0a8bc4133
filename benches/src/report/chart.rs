//! Draws a chart as SVG: lines and markers, each with its name in the right margin.

use core::error::Error;
use core::ops::Range;

use plotters::coord::Shift;
use plotters::element::DashedPathElement;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::axis::Axis;
use super::labels;

/// The factor by which a chart is drawn larger than it is shown, because plotters rounds to whole pixels.
const SCALE: i32 = 8;
/// As wide as a text column; the text is legible at this size.
const WIDTH: i32 = 900;
const HEIGHT: i32 = 540;
/// The space between the frame and the names of the lines, and the length of a sample of the line there.
const SPACE: i32 = 14;
const SAMPLE: i32 = 30;
/// The approximate width of a bold letter.
const LETTER: i32 = 8;
/// Fonts of browsers, viewers and editors, in order of preference.
const FONT: FontFamily<'_> = FontFamily::Name("Helvetica, Arial, DejaVu Sans, sans-serif");
const TEXT: RGBColor = RGBColor(34, 34, 34);
const QUIET: RGBColor = RGBColor(102, 102, 102);
const FAINT: RGBColor = RGBColor(170, 170, 170);
const GRID: RGBColor = RGBColor(229, 229, 229);

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
    pub(super) colour: RGBColor,
    pub(super) marker: Option<Marker>,
    /// Lengths of dashes and gaps.
    pub(super) dash: Option<(i32, i32)>,
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

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;
type Fallible = Result<(), Box<dyn Error>>;

impl Chart {
    /// Returns the chart as an SVG document.
    pub(super) fn svg(&self) -> Result<String, Box<dyn Error>> {
        let mut svg = String::new();
        let size = ((WIDTH * SCALE) as u32, (HEIGHT * SCALE) as u32);
        let area = SVGBackend::with_string(&mut svg, size).into_drawing_area();
        self.draw(&area).map_err(|error| format!("{}: {error}", self.title))?;
        area.present().map_err(|error| error.to_string())?;
        drop(area);
        let drawn = format!(r#"width="{}" height="{}""#, size.0, size.1);
        Ok(svg.replacen(&drawn, &format!(r#"width="{WIDTH}" height="{HEIGHT}""#), 1))
    }

    fn draw(&self, area: &Area<'_>) -> Fallible {
        area.fill(&WHITE)?;
        text(area, &self.title, (16, 14), (HPos::Left, VPos::Top), font(17, TEXT, true))?;
        text(area, self.y.label, (16, 40), (HPos::Left, VPos::Top), font(13, QUIET, false))?;
        // The grid and the axes, with space for what is drawn around them.
        let letters = self.lines.iter().map(|line| line.name.chars().count()).max();
        let names = LETTER * letters.unwrap_or_default() as i32;
        let mut chart = ChartBuilder::on(area)
            .margin_top(78 * SCALE)
            .margin_bottom(18 * SCALE)
            .margin_left(16 * SCALE)
            .margin_right((SPACE + SAMPLE + 12 + names) * SCALE)
            .x_label_area_size(44 * SCALE)
            .y_label_area_size(62 * SCALE)
            .build_cartesian_2d(self.x.clone(), self.y.clone())?;
        chart
            .configure_mesh()
            .light_line_style(TRANSPARENT)
            .bold_line_style(GRID.stroke_width(SCALE as u32))
            .axis_style(QUIET.stroke_width(SCALE as u32))
            .label_style(font(13, TEXT, false))
            .set_all_tick_mark_size(4 * SCALE)
            .draw()?;
        let (columns, rows) = chart.plotting_area().get_pixel_range();
        let centre = ((columns.start + columns.end) / 2 / SCALE, HEIGHT - 14);
        let below = (HPos::Center, VPos::Bottom);
        text(area, self.x.label, centre, below, font(13, QUIET, false))?;
        // The marks.
        let place = |point: &(f64, f64)| chart.backend_coord(point);
        for (x, name) in self.marks.iter().filter(|(x, _)| self.x.range().contains(x)) {
            let (at, _) = place(&(*x, self.y.range().start));
            path(area, &[(at, rows.start), (at, rows.end)], (FAINT, 1), Some((3, 3)))?;
            let above = (at / SCALE, rows.start / SCALE - 3);
            text(area, name, above, (HPos::Center, VPos::Bottom), font(12, QUIET, false))?;
        }
        // The lines.
        let mut ends = Vec::new();
        for line in &self.lines {
            let corners: Vec<_> = line.line.iter().map(place).collect();
            let points: Vec<_> = line.points.iter().map(place).collect();
            path(area, &corners, (line.look.colour, 2), line.look.dash)?;
            points.iter().try_for_each(|&point| mark(area, point, line.look))?;
            ends.extend(corners.last().or(points.last()).map(|&end| (line, end)));
        }
        draw_names(area, columns.end, &rows, &ends)
    }
}

/// Draws the names of the lines in the margin right of `right`, each near the end of its line.
fn draw_names(
    area: &Area<'_>,
    right: i32,
    rows: &Range<i32>,
    ends: &[(&Line, (i32, i32))],
) -> Fallible {
    let wanted: Vec<i32> = ends.iter().map(|(_, end)| end.1).collect();
    for (&(line, end), height) in ends.iter().zip(labels::spread(&wanted, 18 * SCALE, rows)) {
        let (look, start) = (line.look, right + SPACE * SCALE);
        let leader = [(end.0 + 6 * SCALE, end.1), (right, end.1), (start - 3 * SCALE, height)];
        path(area, &leader, (GRID, 1), None)?;
        if !line.line.is_empty() {
            let sample = [(start, height), (start + SAMPLE * SCALE, height)];
            path(area, &sample, (look.colour, 2), look.dash)?;
        }
        mark(area, (start + SAMPLE / 2 * SCALE, height), look)?;
        let at = (start / SCALE + SAMPLE + 6, height / SCALE);
        text(area, &line.name, at, (HPos::Left, VPos::Center), font(13, TEXT, look.bold))?;
    }
    Ok(())
}

fn font(size: i32, colour: RGBColor, bold: bool) -> TextStyle<'static> {
    let style = if bold { FontStyle::Bold } else { FontStyle::Normal };
    // plotters writes the size of a font divided by this into the SVG.
    FontDesc::new(FONT, f64::from(size * SCALE) * 1.24, style).color(&colour)
}

/// Writes at a place in pixels of the chart as it is shown.
fn text(
    area: &Area<'_>,
    words: &str,
    at: (i32, i32),
    (h, v): (HPos, VPos),
    style: TextStyle<'_>,
) -> Fallible {
    let style = style.pos(Pos::new(h, v));
    area.draw(&Text::new(words.to_owned(), (at.0 * SCALE, at.1 * SCALE), style))?;
    Ok(())
}

/// Draws straight lines from point to point, with dashes and gaps of these lengths if there are any.
fn path(
    area: &Area<'_>,
    points: &[(i32, i32)],
    (colour, width): (RGBColor, i32),
    dash: Option<(i32, i32)>,
) -> Fallible {
    let (points, style) = (points.iter().copied(), colour.stroke_width((width * SCALE) as u32));
    match dash {
        None => area.draw(&PathElement::new(points.collect::<Vec<_>>(), style))?,
        Some((dash, gap)) => {
            area.draw(&DashedPathElement::new(points, dash * SCALE, gap * SCALE, style))?;
        }
    }
    Ok(())
}

/// Draws the marker, with a white edge that separates it from what is below.
fn mark(area: &Area<'_>, at: (i32, i32), look: Look) -> Fallible {
    let Some(marker) = look.marker else { return Ok(()) };
    for (radius, colour) in [(5.0, WHITE), (4.25, look.colour)] {
        let radius = radius * f64::from(SCALE);
        let corners: &[(f64, f64)] = match marker {
            Marker::Circle => {
                area.draw(&Circle::new(at, radius as i32, colour.filled()))?;
                continue;
            }
            Marker::Square => &[(-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9)],
            Marker::Diamond => &[(0.0, -1.3), (1.3, 0.0), (0.0, 1.3), (-1.3, 0.0)],
            Marker::Up => &[(0.0, -1.3), (1.15, 0.85), (-1.15, 0.85)],
            Marker::Down => &[(0.0, 1.3), (1.15, -0.85), (-1.15, -0.85)],
        };
        let corner =
            |&(x, y): &(f64, f64)| (at.0 + (x * radius) as i32, at.1 + (y * radius) as i32);
        area.draw(&Polygon::new(corners.iter().map(corner).collect::<Vec<_>>(), colour.filled()))?;
    }
    Ok(())
}
