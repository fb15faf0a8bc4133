//! The program `tamis`. All its code is in the library, where tests and fuzz targets can call it.

use std::process::ExitCode;

fn main() -> ExitCode {
    tamis_cli::main()
}
