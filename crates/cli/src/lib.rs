//! The program `tamis`: parses the command line, runs the command and reports any error in one
//! line.
//!
//! | module | its job |
//! |---|---|
//! | [`dedup`] | prints first occurrences only, in input order, on all cores |
//! | [`key`], [`policy`] | which part of a record is its key, and its normal form |
//! | [`input`] | files, compressed or not, and standard input |
//! | [`kind`](Kind), [`file_kind`](FileKind) | the kinds of filter to choose from |
//! | [`error`](Error) | errors and exit codes |

#![forbid(unsafe_code)]

mod args;
mod commands;
pub mod dedup;
mod ending;
mod error;
mod file_kind;
mod filters;
mod foreign;
mod geometry;
mod gz;
pub mod input;
pub mod key;
mod kind;
mod memory;
mod outlet;
mod output;
mod packing;
mod pipeline;
mod plan;
pub mod policy;
mod remote;
mod scratch;
mod screen;
mod units;
mod zst;

use std::ffi::OsStr;
use std::io::Write;
use std::process::ExitCode;

pub use crate::error::{Error, Why};
pub use crate::file_kind::FileKind;
pub use crate::kind::Kind;

use crate::args::{Cli, Command};
use crate::error::Exits;
use crate::input::unbuffered_stdout;

/// Runs the command that the command line names, and returns the exit code.
#[must_use]
pub fn main() -> ExitCode {
    ending::survive_limits();
    if let Err(error) = memory::check_run(0) {
        screen::report(&error);
        // To parse the command line might take more memory than there is.
        let mut words = std::env::args_os().skip(1);
        let exits = match words.next() {
            Some(name) if name == "which" => Exits::Found,
            Some(name) if name == "query" && words.any(|word| is_exit_status(&word)) => {
                Exits::Found
            }
            _ => Exits::Done,
        };
        return ExitCode::from(exits.of_error(&error));
    }
    let cli = match Cli::parsed() {
        Ok(cli) => cli,
        Err(error) => return misused(&error),
    };
    let exits = cli.command.exits();
    let code = match run(cli.command) {
        Ok(found) => exits.of_success(found),
        Err(error) => {
            screen::report(&error);
            exits.of_error(&error)
        }
    };
    // A signal that came during a save decides on the status.
    ending::finish();
    ExitCode::from(code)
}

/// Whether an argument of `query` is `--exit-status`, or `-e` alone or with others.
fn is_exit_status(word: &OsStr) -> bool {
    let word = word.as_encoded_bytes();
    word == b"--exit-status"
        || matches!(word, [b'-', short @ ..] if !short.contains(&b'-') && short.contains(&b'e'))
}

/// Runs a command. Returns whether it found something, if it looked for something.
fn run(command: Command) -> Result<bool, Error> {
    match command {
        Command::Query(args) => return commands::query(args),
        Command::Which(args) => return commands::which(args),
        Command::Dedup(args) => commands::dedup(args),
        Command::New(args) => commands::new(args),
        Command::Build(args) => commands::build(args),
        Command::Remove(args) => commands::remove(args),
        Command::Merge(args) => commands::merge(&args),
        Command::Convert(args) => commands::convert(&args),
        Command::Delete(args) => commands::delete(&args),
        Command::Index(args) => commands::index(args),
        Command::Info(args) => commands::info(&args).and_then(|text| print(text.as_bytes())),
        Command::Plan(args) => plan::text(&args).and_then(|text| print(text.as_bytes())),
        Command::Completions { shell } => {
            let mut text = Vec::new();
            clap_complete::generate(shell, &mut Cli::laid_out(), "tamis", &mut text);
            print(&text)
        }
        Command::Man { command } => man(command.as_deref()).and_then(|text| print(&text)),
    }?;
    Ok(true)
}

/// Renders the manual page of the program, or of one of its commands.
fn man(command: Option<&str>) -> Result<Vec<u8>, Error> {
    let mut program = Cli::laid_out();
    program.build();
    let page = match command {
        None => program,
        Some(name) => program
            .find_subcommand(name)
            .ok_or_else(|| {
                let name = name.escape_debug();
                Error::Usage(format!("no command '{name}'; see 'tamis --help'"))
            })?
            .clone(),
    };
    let mut text = Vec::new();
    clap_mangen::Man::new(page).render(&mut text).map_err(Error::Write)?;
    Ok(text)
}

/// Writes to standard output. std's own ignores that it is not open for writing.
fn print(text: &[u8]) -> Result<(), Error> {
    let mut output = unbuffered_stdout().map_err(Error::Write)?;
    output.write_all(text).map_err(Error::written)
}

/// Prints what clap returned instead of a command: help and version unchanged, an error in one line
/// that says what is wrong and where to find help.
fn misused(error: &clap::Error) -> ExitCode {
    // Help and version go to standard output.
    if !error.use_stderr() {
        return match print(error.render().to_string().as_bytes()) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => ExitCode::from(screen::report(&error)),
        };
    }
    // For the bare name of the program, print the whole help.
    if error.kind() == clap::error::ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
        let _ = error.print();
        return ExitCode::from(2);
    }
    // Join the paragraphs of clap's message in one line, without usage and hint, and name the help
    // of the command.
    let text = without_secrets(error.render().to_string());
    let parts = text.split("\n\n").filter(|part| {
        !part.trim_start().starts_with("Usage:") && !part.starts_with("For more information")
    });
    let parts: Vec<String> =
        parts.map(|part| part.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
    let line = parts.join("; ");
    let line = line.strip_prefix("error: ").unwrap_or(&line);
    let command = std::env::args_os().nth(1);
    let command = command.filter(|name| Cli::laid_out().find_subcommand(name).is_some());
    let see = command.map_or("tamis".into(), |name| format!("tamis {}", name.display()));
    ExitCode::from(screen::report(&Error::Usage(format!("{line}; see '{see} --help'"))))
}

/// Hides what may be secret in the arguments that a message repeats: those that are addresses.
fn without_secrets(mut text: String) -> String {
    for argument in std::env::args_os() {
        let argument = argument.to_string_lossy();
        if argument.contains("://") {
            // `--option=value` is repeated as the option or the value.
            let value = argument.split_once('=').map_or("", |(_, value)| value);
            for part in [&*argument, value] {
                if part.contains("://") {
                    text = text.replace(part, &remote::Address::visible(part));
                }
            }
        }
    }
    text
}
