//! Rule on `MEASURED` comments: they name the machine and the alternative.

use super::source::{Source, has_word};

/// The machines of the measurements. If the machine is unknown, or if the result is the same on all
/// machines, such as a probability, use one of the last two.
const MACHINES: [&str; 6] =
    ["Zen 4", "Zen 5", "Sapphire Rapids", "Emerald Rapids", "machine not recorded", "any machine"];

/// The words that compare two figures.
const COMPARING: [&str; 7] =
    ["than", "instead of", "against", "versus", "without", "otherwise", "compared with"];

/// The units of results. Two figures with the same unit are a comparison, too.
const UNITS: [&str; 6] = ["ns", "µs", "ms", "s", "%", "instructions"];

/// From its mark, which may name a unit in brackets, to the end of the paragraph, a measurement
/// contains a machine and a comparison of two figures.
pub(super) fn measured(source: &Source) -> Vec<String> {
    let mut violations = Vec::new();
    for (line, claim) in claims(source) {
        let mut wrong = |what: String| violations.push(source.violation(line, "measured", &what));
        if !MACHINES.iter().any(|machine| claim.contains(machine)) {
            wrong(format!("name the machine, one of {}", list(&MACHINES)));
        }
        if !compares(&claim) {
            let (words, units) = (list(&COMPARING), list(&UNITS));
            wrong(format!(
                "name the alternative and its figure: two figures with one of {words}, or with the same unit of {units}"
            ));
        }
    }
    violations
}

fn list(words: &[&str]) -> String {
    words.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", ")
}

/// Returns the line of each mark, and the text from there to the end of the paragraph.
fn claims(source: &Source) -> Vec<(usize, String)> {
    let mut claims: Vec<(usize, String)> = Vec::new();
    // The line after the last line of a comment: a comment that continues is there.
    let mut next = 0;
    let mut open = false;
    for (line, text) in source.comments().filter(|(_, text)| !text.trim().is_empty()) {
        open &= line == next;
        next = line + 1;
        let text = text.trim_start().trim_start_matches(['/', '!', '#', '*', ' ']);
        open &= !text.is_empty();
        if let Some(claim) = after_mark(text) {
            claims.push((line, claim.to_owned()));
            open = true;
        } else if let (true, Some((_, claim))) = (open, claims.last_mut()) {
            // One space, so that a name at a line break is found.
            *claim = format!("{} {text}", claim.trim_end());
        }
    }
    claims
}

/// Returns the text after the mark. The unit that a mark may name stays in it.
fn after_mark(text: &str) -> Option<&str> {
    let (_, rest) = text.split_once("MEASURED")?;
    rest.strip_prefix(':').or_else(|| rest.starts_with(" (").then_some(rest))
}

/// Returns whether a claim contains two figures that a comparing word or their unit relates.
/// Figures in names do not count.
fn compares(claim: &str) -> bool {
    let mut claim = claim.to_owned();
    for machine in MACHINES {
        claim = claim.replace(machine, "");
    }
    // Names of items and tests are in backticks.
    let prose: String = claim.split('`').step_by(2).collect();
    let words: Vec<&str> = prose.split_whitespace().collect();
    let figures = words.iter().filter(|word| is_figure(word)).count();
    let compared = COMPARING.iter().any(|words| match words.contains(' ') {
        true => prose.contains(words),
        false => has_word(&prose, words),
    });
    let results = |unit: &str| {
        words.windows(2).filter(|pair| is_figure(pair[0]) && bare(pair[1]) == unit).count()
    };
    // A unit after the mark is that of all figures.
    let named = UNITS.iter().any(|unit| claim.starts_with(&format!(" ({unit} per ")));
    figures >= 2 && (compared || named) || UNITS.iter().any(|unit| results(unit) >= 2)
}

fn is_figure(word: &str) -> bool {
    word.trim_start_matches(['(', '−', '-', '+']).starts_with(|c: char| c.is_ascii_digit())
}

/// Removes the punctuation after a word.
fn bare(word: &str) -> &str {
    word.trim_end_matches([',', '.', ';', ':', ')'])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> usize {
        measured(&Source::new("a.rs", text.to_owned())).len()
    }

    #[test]
    fn a_measurement_without_a_machine_is_found() {
        assert_eq!(found("/// MEASURED: a query takes 7.9 ns instead of 11.\n"), 1);
        assert_eq!(found("/// MEASURED: a query takes 7.9 ns instead of 11 (Zen 5).\n"), 0);
        assert_eq!(found("// MEASURED: 8 ns instead of 11\n// (machine not recorded).\n"), 0);
    }

    #[test]
    fn a_machine_in_another_comment_does_not_count() {
        let text = "/// MEASURED: 8 ns instead of 11.\n///\n/// On a Zen 5.\n";
        assert_eq!(found(text), 1);
        let text = "/// On a Zen 5.\n/// MEASURED: 8 ns instead of 11.\nf();\n// On a Zen 5.\n";
        assert_eq!(found(text), 1);
    }

    #[test]
    fn a_measurement_without_an_alternative_is_found() {
        assert_eq!(found("//! MEASURED: a query takes 7.9 ns (Zen 5).\n"), 1);
        assert_eq!(found("//! MEASURED (ns per query): 7.9 (Zen 5).\n"), 1);
        assert_eq!(found("//! MEASURED (ns per query): 7.9 in blocks, 11 in pages.\n"), 1);
        assert_eq!(found("//! MEASURED (ns per query): 7.9 in blocks, 11 in pages (Zen 5).\n"), 0);
        assert_eq!(found("// MEASURED: 7.9 ns, faster than `table_2` (Zen\n// 5).\n"), 1);
        assert_eq!(found("// MEASURED: 7.9 ns in 12 MiB, a miss of L2 (Zen 5).\n"), 1);
        assert_eq!(found("// MEASURED: hits take 7.9 ns, without\n// the table 11 (Zen 5).\n"), 0);
        assert_eq!(found("// MEASURED: 7.9 ns in blocks, 11 ns in pages (Zen 5).\n"), 0);
    }

    #[test]
    fn other_text_is_no_measurement() {
        assert_eq!(found("// This is measured.\nlet a = \"MEASURED: \";\n"), 0);
    }

    #[test]
    fn a_measurement_in_a_manifest_is_found() {
        let manifest = Source::new("Cargo.toml", "# MEASURED: fast.\n[profile.dev]\n".to_owned());
        assert_eq!(measured(&manifest).len(), 2);
    }
}
