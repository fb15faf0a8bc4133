//! Writes the report on a file of records: `report IN.jsonl OUT_DIR [COMMAND]`. `COMMAND` is the command that
//! reproduces the report.

use std::env;
use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let (input, out, command) = match &arguments[..] {
        [input, out] => (input, out, format!("report {input} {out}")),
        [input, out, command] => (input, out, command.clone()),
        _ => {
            eprintln!("usage: report IN.jsonl OUT_DIR [COMMAND]");
            return ExitCode::FAILURE;
        }
    };
    match tamis_benches::report::write(Path::new(input), Path::new(out), &command) {
        Ok(report) => {
            println!("{}", report.display());
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}
