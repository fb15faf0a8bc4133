//! The program `tamis`: everything is in the library, so that tests and fuzz targets reach it.

use std::process::ExitCode;

fn main() -> ExitCode {
    tamis_cli::main()
}
