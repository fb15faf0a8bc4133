//! `readme`: runs the commands that the pages show and compares their output with the text.
//!
//! In a fenced block marked `sh`, a line that starts with `$ ` is a command. The lines up to the
//! next command are its output, standard error after standard output. `...` matches any text. The
//! commands of README.md and of the first lines of the examples run in the root; at the end the
//! files that they name after `>` or `-o`, and those whose names end in `.tamis`, are deleted. The
//! commands of docs/program.md run in a directory of their own, which has the list of homepages. On
//! all pages `tamis` is the program built without Redis.

use std::env;
use std::iter;
use std::path::Path;

use xshell::{Shell, cmd};

use crate::{Result, workspace};

/// The commands that do not run: `ci` would call itself, and the others change more than files.
const NOT_RUN: [&str; 4] = ["cargo xtask ci", "cargo install", "cargo add", "git clone"];

/// The pages whose commands run in the root.
const IN_ROOT: [&str; 6] = [
    "README.md",
    "crates/tamis/examples/blocklist/main.rs",
    "crates/tamis/examples/crawl.rs",
    "crates/tamis/examples/event_window.rs",
    "crates/tamis/examples/guard.rs",
    "crates/tamis/examples/service_guard.rs",
];

/// The manual of the program.
const MANUAL: &str = "docs/program.md";

/// The list of homepages, from the root.
const LIST: &str = "crates/tamis/data/homepages.txt";

/// A command of a page.
#[derive(Debug, PartialEq)]
struct Shown {
    line: usize,
    command: String,
    output: String,
}

pub(crate) fn run(sh: &Shell) -> Result {
    // What the programs print does not depend on the optimisation. MEASURED: 93 s of CPU time for a
    // run from scratch, instead of 160 with level 1 (Zen 4, two cores that others use).
    let _fast = sh.push_env("CARGO_PROFILE_RELEASE_OPT_LEVEL", "0");
    cmd!(sh, "cargo build --quiet --release --bin tamis").run()?;
    let program = workspace::target_dir("").join("release");
    let others = sh.var_os("PATH").unwrap_or_default();
    let path = env::join_paths(iter::once(program).chain(env::split_paths(&others)))?;
    let _path = sh.push_env("PATH", path);

    for name in IN_ROOT {
        let shown = page(sh, name)?;
        // They would change the output, and be deleted.
        let mut files = shown.iter().flat_map(|shown| output_files(&shown.command));
        if let Some(file) = files.find(|file| sh.path_exists(file)) {
            return Err(format!("{name} writes {file}, which exists: move it away").into());
        }
        let outcome = check_all(sh, name, &shown);
        for file in shown.iter().flat_map(|shown| output_files(&shown.command)) {
            sh.remove_path(file)?;
        }
        outcome?;
    }

    let shown = page(sh, MANUAL)?;
    let folder = sh.create_temp_dir()?;
    sh.copy_file(LIST, folder.path())?;
    let _dir = sh.push_dir(folder.path());
    check_all(sh, MANUAL, &shown)
}

/// Returns the commands of a page, which must have one.
fn page(sh: &Shell, page: &str) -> Result<Vec<Shown>> {
    let shown = commands(page, &sh.read_file(Path::new(page))?)?;
    if shown.is_empty() {
        return Err(format!("{page} contains no command").into());
    }
    Ok(shown)
}

fn check_all(sh: &Shell, page: &str, shown: &[Shown]) -> Result {
    shown.iter().filter(|shown| is_run(shown)).try_for_each(|shown| check(sh, page, shown))
}

fn is_run(shown: &Shown) -> bool {
    !NOT_RUN.iter().any(|start| shown.command.starts_with(start))
}

fn check(sh: &Shell, page: &str, Shown { line, command, output }: &Shown) -> Result {
    eprintln!("$ {command}");
    let result = cmd!(sh, "sh -c {command}")
        // cargo's own messages depend on the machine.
        .env("CARGO_TERM_QUIET", "true")
        .quiet()
        .ignore_status()
        .output()?;
    let printed = String::from_utf8([result.stdout, result.stderr].concat())?;
    if !result.status.success() {
        return Err(format!("{page}:{line}: {}:\n{printed}", result.status).into());
    }
    if !matches(output, &printed) {
        return Err(format!("{page}:{line}: expected\n{output}printed\n{printed}").into());
    }
    Ok(())
}

/// Returns the commands in the `sh` blocks of the text of a page. The text of a Rust file is that
/// of its `//!` lines.
fn commands(page: &str, text: &str) -> Result<Vec<Shown>> {
    let mut shown: Vec<Shown> = Vec::new();
    let mut fence: Option<&str> = None;
    let text: Vec<&str> = match page.ends_with(".rs") {
        true => {
            text.lines().map_while(|line| line.strip_prefix("//!")).map(without_space).collect()
        }
        false => text.lines().collect(),
    };
    for (&line, number) in text.iter().zip(1..) {
        if let Some(info) = line.strip_prefix("```") {
            fence = if fence.is_none() { Some(info) } else { None };
            if fence == Some("sh") && !text.get(number).is_some_and(|l| l.starts_with("$ ")) {
                return Err(format!("{page}:{number}: a `sh` block must start with `$ `").into());
            }
        } else if fence == Some("sh") {
            if let Some(command) = line.strip_prefix("$ ") {
                shown.push(Shown { line: number, command: command.into(), output: String::new() });
            } else if let Some(last) = shown.last_mut() {
                last.output += line;
                last.output.push('\n');
            }
        }
    }
    Ok(shown)
}

/// Removes the space that separates the text of a doc comment from its mark.
fn without_space(text: &str) -> &str {
    text.strip_prefix(' ').unwrap_or(text)
}

/// Returns whether `printed` is `shown`, where each `...` in `shown` matches any text.
fn matches(shown: &str, printed: &str) -> bool {
    let Some((first, others)) = shown.split_once("...") else {
        return shown == printed;
    };
    let Some(mut rest) = printed.strip_prefix(first) else {
        return false;
    };
    let mut pieces = others.split("...").peekable();
    while let Some(piece) = pieces.next() {
        if pieces.peek().is_none() {
            return rest.ends_with(piece);
        }
        match rest.split_once(piece) {
            Some((_, after)) => rest = after,
            None => return false,
        }
    }
    unreachable!("`split` returns at least one piece")
}

/// Returns the files that a command writes according to its arguments.
fn output_files(command: &str) -> impl Iterator<Item = &str> {
    let words = command.split_whitespace();
    let pairs = words.clone().zip(words.skip(1));
    pairs
        .filter(|(word, file)| matches!(*word, ">" | "-o") || file.ends_with(".tamis"))
        .map(|(_, file)| file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_and_outputs_are_distinguished() {
        let text = "# T\n```rust\n$ not\n```\n```sh\n$ a b > c\n$ wc c\n1\n2\n```\ntext\n";
        let shown = |line, command: &str, output: &str| Shown {
            line,
            command: command.into(),
            output: output.into(),
        };
        let found = commands("page", text).expect("a valid text");
        assert_eq!(found, [shown(6, "a b > c", ""), shown(7, "wc c", "1\n2\n")]);
        assert!(commands("page", "```sh\nls\n```\n").is_err());
    }

    #[test]
    fn commands_of_an_example_are_in_its_first_lines() {
        let text = "//! T\n//!\n//! ```sh\n//! $ a b\n//! 1\n//! ```\n\nfn f() {}\n//! $ no\n";
        let found = commands("a.rs", text).expect("a valid text");
        assert_eq!(found, [Shown { line: 4, command: "a b".into(), output: "1\n".into() }]);
    }

    #[test]
    fn dots_match_any_text() {
        assert!(matches("3 lines in ... s\n", "3 lines in 0.1 s\n"));
        assert!(matches("a...c\n...e\n", "abbc\nd\ne\n"));
        assert!(!matches("3 lines in ... s\n", "4 lines in 0.1 s\n"));
        assert!(!matches("a...a", "a"));
        assert!(!matches("3\n", "3\n4\n"));
    }

    #[test]
    fn output_files_are_found() {
        let files: Vec<_> = output_files("tamis build -o f.tamis in.txt > out.txt").collect();
        assert_eq!(files, ["f.tamis", "out.txt"]);
        let files: Vec<_> = output_files("tamis new f.tamis in.txt > out.txt").collect();
        assert_eq!(files, ["f.tamis", "out.txt"]);
    }
}
