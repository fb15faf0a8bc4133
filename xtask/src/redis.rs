//! `redis`: reports whether the tests against Redis can run.
//!
//! The tests of tamis-redis start servers of their own, and do nothing where `redis-server` is
//! missing. They run in the step `test: programs`, whose output does not show this: a test that
//! passes prints nothing. So this step shows it.

pub(crate) mod valkey;

use std::env;

use xshell::{Shell, cmd};

use crate::Result;
use crate::result::Outcome;

/// The program that the tests start.
const SERVER: &str = "redis-server";

/// If the environment has this variable, the tests fail where the program is missing.
const REQUIRE: &str = "TAMIS_REQUIRE_REDIS";

/// What is printed where the program is missing.
const MISSING: &str = "\
**********************************************************************
SKIPPED: the tests against Redis: redis-server was not found.
Install it: apt-get install redis-server
**********************************************************************";

pub(crate) fn run(sh: &Shell) -> Result<Outcome> {
    let version = cmd!(sh, "{SERVER} --version").quiet().ignore_stderr().read().ok();
    judge(version.as_deref(), env::var_os(REQUIRE).is_some())
}

/// Returns the outcome for the printed version of the server, if there is one.
fn judge(version: Option<&str>, required: bool) -> Result<Outcome> {
    match version {
        Some(version) => {
            eprintln!("{version}");
            Ok(Outcome::Passed)
        }
        None if required => Err(format!(
            "{SERVER} was not found, and {REQUIRE} is set. Install it: apt-get install {SERVER}"
        )
        .into()),
        None => {
            eprintln!("{MISSING}");
            Ok(Outcome::Skipped("no tests against Redis: redis-server was not found"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_server_is_a_skip_or_an_error_if_it_is_required() {
        assert!(matches!(judge(None, false), Ok(Outcome::Skipped(_))));
        assert!(judge(None, true).is_err());
        for required in [false, true] {
            assert!(matches!(judge(Some("Redis server v=7.0.15"), required), Ok(Outcome::Passed)));
        }
    }
}
