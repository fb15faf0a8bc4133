//! Draws a chart as SVG: lines and markers, each with its name in the right margin.

use core::error::Error;

use plotters::coord::Shift;
use plotters::element::DashedPathElement;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::axis::Axis;
use super::labels::{self, Frame};

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

    /// Returns the width of the names of the lines with their samples.
    fn margin(&self) -> i32 {
        let letters = self.lines.iter().map(|line| line.name.chars().count()).max();
        SPACE + SAMPLE + 12 + LETTER * letters.unwrap_or_default() as i32
    }

    fn draw(&self, area: &Area<'_>) -> Fallible {
        area.fill(&WHITE)?;
        let under = Pos::new(HPos::Left, VPos::Top);
        text(area, &self.title, (16, 14), under, font(17, TEXT, true))?;
        text(area, self.y.label, (16, 40), under, font(13, QUIET, false))?;
        // The grid and the axes, with space for what is drawn around them.
        let mut builder = ChartBuilder::on(area);
        builder
            .margin_top(78 * SCALE)
            .margin_bottom(18 * SCALE)
            .margin_right(self.margin() * SCALE);
        builder.margin_left(16 * SCALE);
        builder.x_label_area_size(44 * SCALE).y_label_area_size(62 * SCALE);
        let mut chart = builder.build_cartesian_2d(self.x.clone(), self.y.clone())?;
        chart
            .configure_mesh()
            .light_line_style(TRANSPARENT)
            .bold_line_style(GRID.stroke_width(SCALE as u32))
            .axis_style(QUIET.stroke_width(SCALE as u32))
            .label_style(font(13, TEXT, false))
            .set_all_tick_mark_size(4 * SCALE)
            .draw()?;
        let (columns, rows) = chart.plotting_area().get_pixel_range();
        let frame =
            Frame { left: columns.start, right: columns.end, top: rows.start, bottom: rows.end };
        let centre = ((frame.left + frame.right) / 2 / SCALE, HEIGHT - 14);
        let below = Pos::new(HPos::Center, VPos::Bottom);
        text(area, self.x.label, centre, below, font(13, QUIET, false))?;
        // The marks, the lines and their names.
        let place = |point: &(f64, f64)| chart.backend_coord(point);
        let base = self.y.range().start;
        self.draw_marks(area, &frame, |x| chart.backend_coord(&(x, base)).0)?;
        let mut ends = Vec::new();
        for line in &self.lines {
            let path: Vec<_> = line.line.iter().map(place).collect();
            let points: Vec<_> = line.points.iter().map(place).collect();
            stroke(area, &path, line.look)?;
            for &point in &points {
                mark(area, point, line.look)?;
            }
            ends.push(path.last().or(points.last()).copied());
        }
        self.draw_names(area, &frame, &ends)
    }

    fn draw_marks(&self, area: &Area<'_>, frame: &Frame, place: impl Fn(f64) -> i32) -> Fallible {
        for (x, name) in &self.marks {
            if !self.x.contains(*x) {
                continue;
            }
            let at = place(*x);
            dashed(
                area,
                &[(at, frame.top), (at, frame.bottom)],
                (3, 3),
                FAINT.stroke_width(SCALE as u32),
            )?;
            let above = Pos::new(HPos::Center, VPos::Bottom);
            text(area, name, (at / SCALE, frame.top / SCALE - 3), above, font(12, QUIET, false))?;
        }
        Ok(())
    }

    /// Draws the names of the lines in the right margin, each near the end of its line.
    fn draw_names(&self, area: &Area<'_>, frame: &Frame, ends: &[Option<(i32, i32)>]) -> Fallible {
        let (ends, lines): (Vec<_>, Vec<_>) =
            ends.iter().zip(&self.lines).filter_map(|(end, line)| Some(((*end)?, line))).unzip();
        let wanted: Vec<i32> = ends.iter().map(|end| end.1).collect();
        let heights = labels::spread(&wanted, 18 * SCALE, frame);
        for ((line, end), height) in lines.into_iter().zip(ends).zip(heights) {
            let start = frame.right + SPACE * SCALE;
            let middle = start + SAMPLE / 2 * SCALE;
            let leader =
                [(end.0 + 6 * SCALE, end.1), (frame.right, end.1), (start - 3 * SCALE, height)];
            area.draw(&PathElement::new(leader.to_vec(), GRID.stroke_width(SCALE as u32)))?;
            if !line.line.is_empty() {
                stroke(area, &[(start, height), (start + SAMPLE * SCALE, height)], line.look)?;
            }
            mark(area, (middle, height), line.look)?;
            let at = (start / SCALE + SAMPLE + 6, height / SCALE);
            let right_of = Pos::new(HPos::Left, VPos::Center);
            text(area, &line.name, at, right_of, font(13, TEXT, line.look.bold))?;
        }
        Ok(())
    }
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
    anchor: Pos,
    style: TextStyle<'_>,
) -> Fallible {
    area.draw(&Text::new(words.to_owned(), (at.0 * SCALE, at.1 * SCALE), style.pos(anchor)))?;
    Ok(())
}

fn stroke(area: &Area<'_>, path: &[(i32, i32)], look: Look) -> Fallible {
    let style = look.colour.stroke_width(2 * SCALE as u32);
    match look.dash {
        Some(dash) => dashed(area, path, dash, style),
        None => {
            area.draw(&PathElement::new(path.to_vec(), style))?;
            Ok(())
        }
    }
}

fn dashed(
    area: &Area<'_>,
    path: &[(i32, i32)],
    (dash, gap): (i32, i32),
    style: ShapeStyle,
) -> Fallible {
    area.draw(&DashedPathElement::new(path.iter().copied(), dash * SCALE, gap * SCALE, style))?;
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
