//! Draws a chart as SVG, for light and for dark pages: lines, each with its name in the margin.

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
const HEIGHT: i32 = 480 * PX;
/// The space between the plot and the names of the lines, and the length of a sample of the line
/// there.
const SPACE: i32 = 14 * PX;
const SAMPLE: i32 = 30 * PX;
/// The width of a letter in the widest of the fonts, and the height of a name.
const LETTER: i32 = 8 * PX;
const NAME: i32 = 18 * PX;
/// Fonts of browsers, viewers and editors, in order of preference.
const FONT: FontFamily<'_> = FontFamily::Name("Helvetica, Arial, DejaVu Sans, sans-serif");

/// The colours of a page. The page itself shows through.
#[derive(Debug)]
pub(super) struct Theme {
    pub(super) name: &'static str,
    page: RGBColor,
    text: RGBColor,
    quiet: RGBColor,
    grid: RGBColor,
    /// Those of the lines, which colour-blind readers can distinguish (Okabe and Ito). The first is
    /// that of the memory.
    lines: [RGBColor; 7],
}

pub(super) const LIGHT: Theme = Theme {
    name: "light",
    page: WHITE,
    text: RGBColor(31, 35, 40),
    quiet: RGBColor(89, 99, 110),
    grid: RGBColor(224, 228, 233),
    lines: [
        RGBColor(119, 119, 119),
        RGBColor(0, 114, 178),
        RGBColor(0, 158, 115),
        RGBColor(204, 121, 167),
        RGBColor(213, 94, 0),
        RGBColor(190, 130, 0),
        RGBColor(0, 0, 0),
    ],
};

pub(super) const DARK: Theme = Theme {
    name: "dark",
    page: RGBColor(13, 17, 23),
    text: RGBColor(230, 237, 243),
    quiet: RGBColor(145, 152, 161),
    grid: RGBColor(48, 54, 61),
    lines: [
        RGBColor(140, 148, 158),
        RGBColor(86, 180, 233),
        RGBColor(46, 190, 150),
        RGBColor(224, 150, 190),
        RGBColor(240, 128, 60),
        RGBColor(230, 180, 60),
        RGBColor(240, 246, 252),
    ],
};

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;
type Drawn = Result<(), DrawingAreaErrorKind<std::io::Error>>;
/// A place in the drawing; the second coordinate grows downwards.
type At = (i32, i32);

/// A line with its name, in the colour of this number.
#[derive(Clone, Debug)]
pub(super) struct Line {
    pub(super) name: String,
    pub(super) style: usize,
    pub(super) dashed: bool,
    /// Whether its points are marked; more than a few would hide the line.
    pub(super) marked: bool,
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
    pub(super) fn svg(&self, theme: &Theme) -> Result<String, Box<dyn Error + Send + Sync>> {
        let mut svg = String::new();
        let size = (WIDTH as u32, HEIGHT as u32);
        self.draw(&SVGBackend::with_string(&mut svg, size).into_drawing_area(), theme)?;
        let drawn = format!("width=\"{WIDTH}\" height=\"{HEIGHT}\"");
        let shown = format!("width=\"{}\" height=\"{}\"", WIDTH / PX, HEIGHT / PX);
        Ok(svg.replacen(&drawn, &shown, 1))
    }

    fn draw(&self, area: &Area<'_>, theme: &Theme) -> Drawn {
        let Self { title, x, y, lines, marks } = self;
        let quiet = |side| font(13, theme.quiet, false, side);
        area.draw_text(title, &font(17, theme.text, true, HPos::Left), (16 * PX, 22 * PX))?;
        area.draw_text(y.label, &quiet(HPos::Left), (16 * PX, 46 * PX))?;
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
            .bold_line_style(theme.grid.stroke_width(PX as u32))
            .axis_style(theme.quiet.stroke_width(PX as u32))
            .label_style(font(13, theme.text, false, HPos::Left))
            .set_all_tick_mark_size(4 * PX)
            .draw()?;
        let (columns, rows) = chart.plotting_area().get_pixel_range();
        let below = ((columns.start + columns.end) / 2, HEIGHT - 20 * PX);
        area.draw_text(x.label, &quiet(HPos::Center), below)?;
        for (value, name) in marks.iter().filter(|(value, _)| x.shows(*value)) {
            let (at, _) = chart.backend_coord(&(*value, 1.0));
            path(area, &[(at, rows.start), (at, rows.end)], theme.quiet.stroke_width(8), true)?;
            area.draw_text(name, &quiet(HPos::Center), (at, rows.start - 9 * PX))?;
        }
        let ends: Vec<At> = lines
            .iter()
            .map(|line| {
                let points: Vec<At> =
                    line.points.iter().map(|point| chart.backend_coord(point)).collect();
                line.draw(area, theme, &points)?;
                Ok(points.last().copied().unwrap_or_default())
            })
            .collect::<Result<_, DrawingAreaErrorKind<std::io::Error>>>()?;
        self.names(area, theme, columns.end, &rows, &ends)
    }

    /// Draws the names of the lines in the margin right of `right`, each near the end of its line.
    fn names(
        &self,
        area: &Area<'_>,
        theme: &Theme,
        right: i32,
        rows: &Range<i32>,
        ends: &[At],
    ) -> Drawn {
        let wanted: Vec<i32> = ends.iter().map(|end| end.1).collect();
        let start = right + SPACE;
        for ((line, end), height) in self.lines.iter().zip(ends).zip(spread(&wanted, NAME, rows)) {
            let leader = [(end.0 + 6 * PX, end.1), (right, end.1), (start - 3 * PX, height)];
            path(area, &leader, theme.grid.stroke_width(PX as u32), false)?;
            line.draw(area, theme, &[(start, height), (start + SAMPLE, height)])?;
            let style = font(13, theme.text, false, HPos::Left);
            area.draw_text(&line.name, &style, (start + SAMPLE + 6 * PX, height))?;
        }
        Ok(())
    }
}

impl Line {
    /// Draws a line through these points, with markers that have an edge, which separates them from
    /// what is below.
    fn draw(&self, area: &Area<'_>, theme: &Theme, points: &[At]) -> Drawn {
        let colour = theme.lines[self.style];
        path(area, points, colour.stroke_width(2 * PX as u32), self.dashed)?;
        for at in points.iter().filter(|_| self.marked) {
            for (radius, colour) in [(5, theme.page), (4, colour)] {
                area.draw(&Circle::new(*at, radius * PX, colour.filled()))?;
            }
        }
        Ok(())
    }
}

/// Returns a font for text whose middle line, and this side of it, is where it is drawn.
fn font(size: i32, colour: RGBColor, bold: bool, side: HPos) -> TextStyle<'static> {
    let style = if bold { FontStyle::Bold } else { FontStyle::Normal };
    // plotters writes the size of a font divided by this into the SVG.
    let font = FontDesc::new(FONT, f64::from(size * PX) * 1.24, style);
    font.color(&colour).pos(Pos::new(side, VPos::Center))
}

/// Draws straight lines from point to point.
fn path(area: &Area<'_>, points: &[At], style: ShapeStyle, dashed: bool) -> Drawn {
    if !dashed {
        return area.draw(&PathElement::new(points, style));
    }
    area.draw(&DashedPathElement::new(points.iter().copied(), 6 * PX, 4 * PX, style))
}

/// Returns heights `gap` apart or more, in the order of those wanted and near them, inside the rows
/// of the plot while there is room.
fn spread(wanted: &[i32], gap: i32, rows: &Range<i32>) -> Vec<i32> {
    let mut order: Vec<usize> = (0..wanted.len()).collect();
    order.sort_by_key(|&index| wanted[index]);
    let mut heights = wanted.to_vec();
    // Down from the top, then up from the bottom.
    let mut free = rows.start;
    for &index in &order {
        heights[index] = heights[index].max(free);
        free = heights[index] + gap;
    }
    let mut free = rows.end;
    for &index in order.iter().rev() {
        heights[index] = heights[index].min(free);
        free = heights[index] - gap;
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
        assert_eq!(spread(&[50, 50, 52]), [50, 60, 70]);
        assert_eq!(spread(&[100, 99, 98, 20]), [100, 90, 80, 20]);
    }
}
