//! `python`: builds the Python package, installs it into a virtual environment, and runs its tests;
//! or builds the wheels of a release.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

use xshell::{Shell, cmd};

use crate::result::Outcome;
use crate::{Result, package, programs, workspace};

/// The names under which an interpreter is looked for.
const INTERPRETERS: &[&str] = &["python3", "python3.14", "python3.13", "python3.12", "python3.11"];

/// Prints the version of an interpreter that can have the package, or fails. It needs `venv`, which
/// installs pip.
const PROBE: &str = "import ensurepip, sys, venv\nassert sys.version_info >= (3, 11)\nprint(*sys.version_info[:3], sep='.')";

/// If the environment has this variable, `ci` fails where there is no interpreter.
const REQUIRE: &str = "TAMIS_REQUIRE_PYTHON";

/// The tests that run beside the others: they take about half of the time.
const BESIDE: [&str; 2] = ["tests/test_scrapy.py", "tests/test_threads.py"];

/// The directory of the package.
const FOLDER: &str = "crates/python";

#[derive(Clone, Copy, Debug, clap::Args)]
pub(crate) struct Args {
    /// Build optimised wheels instead, in `target/python/release`: one for all Pythons from 3.11
    /// on, and a faster one for each version that is installed
    #[arg(long)]
    wheels: bool,
}

pub(crate) fn run(sh: &Shell, args: Args) -> Result {
    let (python, version) = find(sh).ok_or("no Python from 3.11 on with venv and pip was found")?;
    let python = install(sh, python, &version)?;
    if args.wheels {
        return release(sh, &python);
    }
    cmd!(sh, "cargo build --package tamis-cli").run()?;
    test(sh, &python)
}

/// Builds the wheels of a release.
///
/// An installer prefers the wheel for its version to the one for all. MEASURED: in that one,
/// `update` of a list of int takes 23.5 ns per item instead of 18.0, and `add` 34.1 instead of 33.0
/// (Intel Xeon, machine not recorded).
fn release(sh: &Shell, python: &Path) -> Result {
    let folder = workspace::root().join(FOLDER).join("Cargo.toml");
    let wheels = workspace::target_dir("python/release");
    sh.remove_path(&wheels)?;
    let options = ["--release", "--strip", "--manifest-path"];
    let build = cmd!(sh, "{python} -m maturin build {options...} {folder} --out {wheels}");
    build.arg("--interpreter").arg(python).run()?;
    for version in &INTERPRETERS[1..] {
        if cmd!(sh, "{version} -c {PROBE}").quiet().ignore_stderr().read().is_err() {
            continue;
        }
        let build = cmd!(sh, "{python} -m maturin build {options...} {folder} --out {wheels}");
        build.args(["--no-default-features", "--interpreter", version]).run()?;
    }
    Ok(())
}

/// Runs the tests as a step of `ci`, unless there is no interpreter, or no network for the first
/// run.
pub(crate) fn run_if_possible(sh: &Shell) -> Result<Outcome> {
    let installed = match find(sh) {
        Some((python, version)) => install(sh, python, &version),
        None => Err("no Python from 3.11 on with venv and pip was found".into()),
    };
    match installed {
        Ok(python) => {
            // The tests of Rust have the program, so nothing is built again. `cargo build` would
            // build it with fewer features of its dependencies.
            programs::build(sh, &package::flags(sh)?)?;
            test(sh, &python).map(|()| Outcome::Passed)
        }
        Err(error) if env::var_os(REQUIRE).is_some() => {
            Err(format!("{error}, and {REQUIRE} is set").into())
        }
        Err(error) => {
            eprintln!("SKIPPED: {error}");
            Ok(Outcome::Skipped(
                "no tests of the Python package: no Python from 3.11 on, or no pip",
            ))
        }
    }
}

/// Returns an interpreter and its version.
fn find(sh: &Shell) -> Option<(&'static str, String)> {
    INTERPRETERS.iter().find_map(|&python| {
        let version = cmd!(sh, "{python} -c {PROBE}").quiet().ignore_stderr().read().ok()?;
        Some((python, version))
    })
}

/// Makes a virtual environment with what the tests need, unless it is there. Returns its
/// interpreter.
fn install(sh: &Shell, python: &str, version: &str) -> Result<PathBuf> {
    let folder = workspace::target_dir("python").join(version);
    let python_of_it = folder.join("bin/python");
    if !python_of_it.exists() {
        cmd!(sh, "{python} -m venv {folder}").run()?;
    }
    let requirements = workspace::root().join(FOLDER).join("tests/requirements.txt");
    // Without a network it fails soon. If all is there, it asks nobody.
    let options = ["--quiet", "--disable-pip-version-check", "--retries", "1", "--timeout", "15"];
    cmd!(sh, "{python_of_it} -m pip install {options...} --requirement {requirements}").run()?;
    Ok(python_of_it)
}

/// Builds the package as the tests of Rust are built, installs it, and runs its tests. They also
/// run the program, which was built before.
fn test(sh: &Shell, python: &Path) -> Result {
    let wheels = workspace::target_dir("python/wheels");
    sh.remove_path(&wheels)?;
    let manifest = workspace::root().join(FOLDER).join("Cargo.toml");
    let target = workspace::target_dir("");
    {
        let _target = sh.push_env("CARGO_TARGET_DIR", &target);
        cmd!(sh, "{python} -m maturin build --quiet --profile dev --interpreter {python} --manifest-path {manifest} --out {wheels}")
            .run()?;
        cmd!(sh, "{python} -m maturin sdist --manifest-path {manifest} --out {wheels}").run()?;
    }
    let wheel = sh
        .read_dir(&wheels)?
        .into_iter()
        .find(|path| path.extension().is_some_and(|end| end == "whl"));
    let wheel = wheel.ok_or("maturin has built no wheel")?;
    let options = ["--quiet", "--disable-pip-version-check", "--force-reinstall", "--no-deps"];
    cmd!(sh, "{python} -m pip install {options...} {wheel}").run()?;
    // Two at a time: many tests mostly wait.
    let module = |module: &str, arguments: &[&str]| {
        let mut command = Command::new(python);
        command.current_dir(workspace::root().join(FOLDER)).args(["-m", module]).args(arguments);
        command.env("TAMIS_PROGRAM", target.join("debug/tamis"));
        command
    };
    // Each writes no cache: both would write the same file.
    let options = ["--quiet", "-p", "no:cacheprovider"];
    let others = BESIDE.map(|file| ["--ignore", file]).concat();
    programs::run_all([
        module("pytest", &[&options[..], &BESIDE].concat()),
        module("mypy.stubtest", &["tamis._tamis", "--mypy-config-file", "pyproject.toml"]),
        module("pytest", &[&options[..], &["tests"], &others].concat()),
    ])
}
