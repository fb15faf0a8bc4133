//! `bench`: the criterion benchmarks.

use xshell::{Shell, cmd};

use crate::Result;

pub(crate) fn run(sh: &Shell, filter: Option<&str>) -> Result {
    cmd!(sh, "cargo bench --package tamis-benches -- {filter...}").run()?;
    Ok(())
}
