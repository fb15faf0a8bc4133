//! The curve of the guide: the rate by the number of probes, at 20 bits per key.
//!
//! `cargo run --example known_figures -- --curve > crates/tamis/src/guide/probes.svg`
//!
//! The drawing is a part of an HTML page, so that it takes the colour of the text around it, in a
//! light and in a dark theme; a picture in a file of its own could not. Hence it has no blank line,
//! which would end the HTML of a Markdown page.

use std::fmt::Write;

use crate::rates::formula;

const BITS_PER_KEY: u64 = 20;

/// The probes that are drawn.
const PROBES: std::ops::RangeInclusive<u32> = 1..=20;

/// The rates of the grid, each a tenth of the one above it; the first is 10^-1.
const GRID: [&str; 5] = ["10 %", "1 %", "0.1 %", "0.01 %", "0.001 %"];

/// The size of the plot, and the space to the left and above it.
const WIDTH: f64 = 480.0;
const HEIGHT: f64 = 200.0;
const LEFT: f64 = 70.0;
const ABOVE: f64 = 30.0;

/// Returns the curve as SVG, the same text on every machine.
pub(crate) fn svg() -> String {
    let x = |probes: u32| LEFT + WIDTH * f64::from(probes - 1) / f64::from(PROBES.end() - 1);
    // Lines below the top of the grid.
    let y = |lines: f64| ABOVE + HEIGHT * lines / (GRID.len() - 1) as f64;
    let [width, height] = [LEFT + WIDTH + 20.0, ABOVE + HEIGHT + 50.0];
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" \
         height=\"{height}\" role=\"img\" font-family=\"sans-serif\" font-size=\"12\" fill=\"currentColor\">\n\
         <title>The rate of a classic filter with {BITS_PER_KEY} bits per key, by the probes k</title>\n\
         <text x=\"{LEFT}\" y=\"16\">false-positive rate at {BITS_PER_KEY} bits per key</text>\n"
    );
    let mut line = |text: String| {
        svg += &text;
        svg.push('\n');
    };
    // The grid, with a rate beside each line.
    for (below, rate) in (0..).zip(GRID) {
        let (at, end) = (y(f64::from(below)), LEFT + WIDTH);
        line(format!(
            "<path d=\"M{LEFT} {at}H{end}\" stroke=\"currentColor\" stroke-opacity=\"0.2\"/>\
             <text x=\"{}\" y=\"{}\" text-anchor=\"end\">{rate}</text>",
            LEFT - 8.0,
            at + 4.0
        ));
    }
    // The probes below it.
    for probes in PROBES.filter(|probes| *probes == 1 || probes.is_multiple_of(2)) {
        let at = ABOVE + HEIGHT + 18.0;
        line(format!(
            "<text x=\"{:.1}\" y=\"{at}\" text-anchor=\"middle\">{probes}</text>",
            x(probes)
        ));
    }
    line(format!(
        "<text x=\"{}\" y=\"{}\" text-anchor=\"middle\">probes k</text>",
        LEFT + WIDTH / 2.0,
        ABOVE + HEIGHT + 38.0
    ));
    let points: Vec<(f64, f64)> = PROBES
        .map(|probes| (x(probes), y(-1.0 - libm::log10(formula(BITS_PER_KEY, probes)))))
        .collect();
    let mut path = String::new();
    for (at, (x, y)) in points.iter().enumerate() {
        _ = write!(path, "{}{x:.1} {y:.1}", if at == 0 { "M" } else { "L" });
    }
    line(format!("<path d=\"{path}\" fill=\"none\" stroke=\"currentColor\" stroke-width=\"2\"/>"));
    for (x, y) in points {
        line(format!("<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3\"/>"));
    }
    line("</svg>".to_owned());
    svg
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_curve_in_the_guide_is_what_the_formula_gives() {
        let guide = concat!(env!("CARGO_MANIFEST_DIR"), "/../crates/tamis/src/guide/probes.svg");
        let drawn = std::fs::read_to_string(guide).unwrap();
        assert!(drawn == svg(), "draw it again: see the first lines of this file");
        assert!(!drawn.contains("\n\n"), "a blank line ends the HTML of a Markdown page");
    }

    /// The best number of probes is 14, and 8 are nearly as good.
    #[test]
    fn more_probes_gain_little() {
        let best = (1..40).min_by(|a, b| formula(20, *a).total_cmp(&formula(20, *b)));
        assert_eq!(best, Some(14));
        assert!(formula(20, 10) < 1.4 * formula(20, 14));
    }
}
