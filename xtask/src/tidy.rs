//! `tidy`: checks the house rules that no compiler checks. Every rule has a test with a planted
//! violation.

mod arrows;
mod chance;
mod circles;
mod comments;
mod files;
mod imports;
mod measured;
mod modules;
mod orderings;
mod source;
mod syntax;
mod targets;

use xshell::{Shell, cmd};

use crate::{Result, workspace};
use source::Source;

/// A rule on one file. Returns each violation as `path:line: rule: what to do`.
type Rule = fn(&Source) -> Vec<String>;

const RULES: [Rule; 11] = [
    chance::examples,
    comments::doc_attribute,
    comments::first_line,
    comments::ordering,
    comments::unfinished,
    comments::width,
    measured::measured,
    orderings::atomics,
    orderings::few_files_own_them,
    files::size,
    files::machine_paths,
];

pub(crate) fn run(sh: &Shell) -> Result {
    let violations = violations(sh)?;
    for violation in &violations {
        eprintln!("{violation}");
    }
    match violations.len() {
        0 => Ok(()),
        count => Err(format!("{count} violations of the house rules").into()),
    }
}

fn violations(sh: &Shell) -> Result<Vec<String>> {
    let sources = sources(sh)?;
    sources.iter().for_each(files::warn_of_size);
    let mut violations: Vec<String> =
        sources.iter().flat_map(|source| RULES.iter().flat_map(|rule| rule(source))).collect();
    violations.extend(circles::check(&sources));
    violations.extend(imports::check(&sources));
    violations.extend(targets::check(&sources));
    violations.extend(arrows::check(&workspace::packages(sh)?));
    Ok(violations)
}

/// Reads the text files that git tracks or would track.
fn sources(sh: &Shell) -> Result<Vec<Source>> {
    let list = cmd!(sh, "git ls-files --cached --others --exclude-standard").quiet().read()?;
    let mut sources = Vec::new();
    for path in list.lines() {
        // git also lists deleted files and binary files.
        if let Ok(text) = sh.read_file(path) {
            sources.push(Source::new(path, text));
        }
    }
    Ok(sources)
}
