//! The parts of a page: its charts, its sentences, and the facts of its runs.

use super::data::Data;
use crate::figure::figure;

/// The text of a page.
#[derive(Debug)]
pub(super) struct Page(String);

impl Page {
    pub(super) fn new(title: &str) -> Self {
        Self(format!("# {title}\n"))
    }

    /// Adds a chart, for light and for dark pages, if it is in the list.
    pub(super) fn chart(&mut self, charts: &[&str], name: &str, words: &str) {
        if charts.contains(&name) {
            self.0 += &format!(
                "\n<picture>\n  <source media=\"(prefers-color-scheme: dark)\" \
                 srcset=\"charts/{name}-dark.svg\">\n  \
                 <img src=\"charts/{name}-light.svg\" alt=\"{words}\">\n</picture>\n"
            );
        }
    }

    pub(super) fn head(&mut self, title: &str) {
        self.0 += &format!("\n## {title}\n");
    }

    pub(super) fn text(&mut self, text: &str) {
        self.0 += &format!("\n{}\n", text.trim());
    }

    /// Adds a list of the sentences that there are figures for.
    pub(super) fn list(&mut self, sentences: impl IntoIterator<Item = Option<String>>) {
        let sentences = sentences.into_iter().flatten();
        let list: String = sentences.map(|sentence| format!("- {sentence}\n")).collect();
        if !list.is_empty() {
            self.0 += &format!("\n{list}");
        }
    }

    /// Adds the facts of the runs of these sections, and returns the page.
    pub(super) fn finish(mut self, data: &Data, sections: &[&str]) -> String {
        self.head("How it was measured");
        let mut runs: Vec<(String, Vec<String>)> = Vec::new();
        for name in sections {
            let Some(section) = data.0.get(name) else { continue };
            let facts: Vec<String> =
                section.facts.iter().map(|(name, value)| format!("{name}: {value}")).collect();
            let (facts, file) = (facts.join("; "), format!("[{name}.csv](data/{name}.csv)"));
            match runs.iter_mut().find(|(of, _)| *of == facts) {
                Some((_, files)) => files.push(file),
                None => runs.push((facts, vec![file])),
            }
        }
        for (facts, files) in runs {
            self.text(&format!("All figures are in {}. {facts}.", files.join(", ")));
        }
        self.0
    }
}

/// Returns a multiple in words.
pub(super) fn times(ratio: f64) -> String {
    format!("{} times", figure(ratio))
}
