//! The program `tamis`, so that the tests of this package can run it.

use std::process::ExitCode;

fn main() -> ExitCode {
    tamis_cli::main()
}
