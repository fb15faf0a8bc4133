//! The layout of the help: the headings of options, and the short texts of those that `-h` shows on
//! one screen.

use clap::{Arg, Command};

/// The headings, and the options under each. All other options stand under "Options".
const HEADINGS: [(&str, &str); 3] = [
    (
        "Records and keys",
        "null hex max_line key_field delimiter csv no_csv header json_key url ignore_case crlf strict no_decompress",
    ),
    ("Filter", "kind capacity fixed rate window overfull seed from column key_type to"),
    ("Running", "save_every no_wait deadline chunk threads progress quiet verbose stats"),
];

/// The options and arguments that `-h` shows, with their text there. `command`: the one that has
/// this text, or "" for all others.
struct Short {
    command: &'static str,
    id: &'static str,
    text: &'static str,
}

const fn short(command: &'static str, id: &'static str, text: &'static str) -> Short {
    Short { command, id, text }
}

const SHORT: [Short; 37] = [
    short("", "files", "Files to read, in order; none or '-' is standard input"),
    short("index", "files", "Files to index"),
    short("", "filter", "The file of the filter, or redis://host:port/#name"),
    short("remove", "filter", "The file of the filter"),
    short("delete", "filter", "The address of the filter: redis://host:port/#name"),
    short("convert", "filter", "The file of the filter; '-' is standard input"),
    short("", "filters", "The files of the filters"),
    short("", "index", "The file of the index"),
    short("", "key", "Keys to find"),
    short("", "output", "Write to this file, which is replaced at the end of the run"),
    short("build", "output", "The file of the filter"),
    short("merge", "output", "The file of the new filter"),
    short("convert", "output", "The file of the new filter; '-' is standard output"),
    short("index", "output", "The file of the index"),
    short("", "repeated", "Print repeated records only"),
    short("", "invert", "Print the records that surely are not in the filter"),
    short("", "exit_status", "Exit with 1 if no record was printed"),
    short("", "add", "Keep the other files of the index"),
    short("", "keys", "Find the keys of the records in this file"),
    short("", "with_key", "Print the key before each name"),
    short("", "verify", "Read the files, and print only those that have the key"),
    short("", "key_field", "Compare these fields: numbers, or names with --header"),
    short("", "csv", "Fields may be quoted, as in CSV"),
    short("", "header", "The first record of each input is a header"),
    short("", "json_key", "Compare the JSON value at this pointer, such as /user/id"),
    short("", "url", "Compare as URLs"),
    short("", "capacity", "The number of distinct records, such as 10M"),
    short("new", "window", "Keep the last N records only; in Redis, a time such as 24h"),
    short("", "window", "Keep the last N records only"),
    short("", "rate", "The false-positive rate, such as 1e-6 or 1%"),
    short("dedup", "rate", "Lose records with this probability, for less memory"),
    short("", "save_every", "Also save in these intervals, such as 10min"),
    short("", "threads", "The number of threads [default: all cores]"),
    short("", "quiet", "Print no summary"),
    short("delete", "quiet", "Print nothing if the filter is deleted"),
    short("", "yes", "Delete without asking"),
    short("", "json", "Print one JSON object"),
];

/// Lays out the help of the program and of all its commands.
pub(super) fn laid_out(mut program: Command) -> Command {
    let names: Vec<String> =
        program.get_subcommands().map(|command| command.get_name().to_owned()).collect();
    for name in names {
        program = program.mut_subcommand(name, laid_out_command);
    }
    program.after_help("'tamis COMMAND -h' shows the common options of a command.")
}

fn laid_out_command(command: Command) -> Command {
    let name = command.get_name().to_owned();
    let see = format!("'tamis {name} --help' explains all options.");
    command.mut_args(|arg| laid_out_arg(&name, arg)).after_help(see)
}

fn laid_out_arg(command: &str, arg: Arg) -> Arg {
    // `--rate -1`: the parser of the option says what is wrong with the number.
    let is_option = !arg.is_positional() && arg.get_action().takes_values();
    let id = arg.get_id().as_str().to_owned();
    let is_duration = ["deadline", "save_every", "window"].contains(&&*id);
    let arg = arg.allow_negative_numbers(is_option).allow_hyphen_values(is_duration);
    let heading = HEADINGS.iter().find(|(_, ids)| ids.split(' ').any(|other| other == id));
    let arg = match heading {
        Some((heading, _)) => arg.help_heading(*heading),
        None => arg,
    };
    let of_command = |of: &str| SHORT.iter().find(|short| short.command == of && short.id == id);
    // `--help` and the manual pages have the whole text.
    let long = arg.get_long_help().or_else(|| arg.get_help()).cloned().unwrap_or_default();
    let arg = match of_command(command).or_else(|| of_command("")) {
        Some(short) => arg.help(short.text),
        None => arg.hide_short_help(true),
    };
    arg.long_help(long)
}
