//! `sanitize`: the tests under ThreadSanitizer or AddressSanitizer, on nightly.
//!
//! ThreadSanitizer runs programs without libtest, one of each filter crate. The prebuilt standard library is not
//! instrumented, so libtest itself, `thread::scope` and `OnceLock` give false alarms; `spawn` and
//! `join` do not. Suppressions hide true races with them, so there are none. That a true race is
//! seen is checked each time by a planted one.

use std::path::PathBuf;

use clap::ValueEnum;
use serde_json::Value;
use xshell::{Shell, cmd};

use crate::{Result, workspace};

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum Sanitizer {
    /// ThreadSanitizer: data races
    Tsan,
    /// AddressSanitizer: accesses out of bounds, use after free, leaks
    Asan,
}

/// The exit code by which ThreadSanitizer reports a race.
const RACE: i32 = 66;

pub(crate) fn run(sh: &Shell, sanitizer: Sanitizer) -> Result {
    if cmd!(sh, "cargo +nightly --version").quiet().ignore_stdout().run().is_err() {
        return Err("sanitizers need nightly: `rustup toolchain install nightly`".into());
    }
    match sanitizer {
        Sanitizer::Tsan => tsan(sh),
        Sanitizer::Asan => asan(sh),
    }
}

fn tsan(sh: &Shell) -> Result {
    let (program, other) =
        (build_tsan_program(sh, "tamis-bloom")?, build_tsan_program(sh, "tamis-cuckoo")?);
    let _env = sh.push_env("TSAN_OPTIONS", format!("exitcode={RACE}"));
    cmd!(sh, "{program}").run()?;
    cmd!(sh, "{other}").run()?;
    let _env = sh.push_env("TAMIS_TSAN_PLANT", "1");
    let planted = cmd!(sh, "{program}").ignore_status();
    eprintln!("$ TAMIS_TSAN_PLANT=1 {planted}");
    let status = planted.output()?.status;
    if status.code() != Some(RACE) {
        return Err(format!("the planted race was not reported: {status}").into());
    }
    eprintln!("no race, and the planted one was reported");
    Ok(())
}

/// Built first and run by its path: `cargo test` would hide the program's exit code.
fn build_tsan_program(sh: &Shell, package: &str) -> Result<PathBuf> {
    let host = host(sh)?;
    // The second flag lets instrumented code link to the prebuilt standard library.
    let flags = "-Zsanitizer=thread -Cunsafe-allow-abi-mismatch=sanitizer";
    let _env = sh.push_env("RUSTFLAGS", flags);
    let _env = sh.push_env("CARGO_TARGET_DIR", workspace::target_dir("tsan"));
    let build = cmd!(
        sh,
        "cargo +nightly test --release --target {host} --package {package} --test tsan --no-run
         --message-format json-render-diagnostics"
    );
    workspace::read(build)?
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok())
        .filter(|message| message["target"]["name"] == "tsan")
        .find_map(|message| message["executable"].as_str().map(PathBuf::from))
        .ok_or_else(|| "cargo built no program".into())
}

fn asan(sh: &Shell) -> Result {
    let host = host(sh)?;
    let _env = sh.push_env("RUSTFLAGS", "-Zsanitizer=address");
    let _env = sh.push_env("CARGO_TARGET_DIR", workspace::target_dir("asan"));
    // Tests ask for more memory than there is and expect a refusal, not the end of the process.
    let refusing = "allocator_may_return_null=1";
    // Skipped: tests in modules `linux` limit the address space, of which the sanitizer wants terabytes.
    // The program's tests leave threads behind that still feed a program which has ended.
    let leaving = "allocator_may_return_null=1:detect_leaks=0";
    for (options, packages) in [
        (refusing, &["tamis-sync", "tamis-hash", "tamis-bloom", "tamis-cuckoo", "tamis"][..]),
        (leaving, &["tamis-cli"][..]),
    ] {
        let _env = sh.push_env("ASAN_OPTIONS", options);
        let packages: Vec<_> = packages.iter().flat_map(|name| ["--package", name]).collect();
        cmd!(
            sh,
            "cargo +nightly test --release --target {host} {packages...} --lib --bins --tests
             -- --skip linux::"
        )
        .run()?;
    }
    Ok(())
}

/// The target triple of this machine; sanitizers need it named.
fn host(sh: &Shell) -> Result<String> {
    let version = cmd!(sh, "rustc -vV").quiet().read()?;
    let host = version.lines().find_map(|line| line.strip_prefix("host: "));
    Ok(host.ok_or("`rustc -vV` names no host")?.to_owned())
}
