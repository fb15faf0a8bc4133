//! `sanitize`: runs the tests under ThreadSanitizer or AddressSanitizer on nightly.
//!
//! Under ThreadSanitizer runs one program per filter crate, without libtest. The prebuilt standard
//! library is not instrumented, so libtest itself, `thread::scope` and `OnceLock` cause false
//! alarms; `spawn` and `join` do not. Suppressions would also hide real races, so there are none.
//! Each run also checks that a planted race is reported.

use std::path::PathBuf;

use clap::ValueEnum;
use serde_json::Value;
use xshell::{Shell, cmd};

use crate::{Result, workspace};

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum Sanitizer {
    /// ThreadSanitizer: finds data races
    Tsan,
    /// AddressSanitizer: finds accesses out of bounds, uses after free, and leaks
    Asan,
}

/// The exit code with which ThreadSanitizer reports a race.
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
        return Err(format!("ThreadSanitizer did not report the planted race: {status}").into());
    }
    eprintln!("no race; the planted race was reported");
    Ok(())
}

/// Builds the program and returns its path: `cargo test` would hide its exit code.
fn build_tsan_program(sh: &Shell, package: &str) -> Result<PathBuf> {
    let host = host(sh)?;
    // The second flag allows instrumented code to link with the prebuilt standard library.
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
        .ok_or_else(|| "cargo built no test program".into())
}

fn asan(sh: &Shell) -> Result {
    let host = host(sh)?;
    let _env = sh.push_env("RUSTFLAGS", "-Zsanitizer=address");
    let _env = sh.push_env("CARGO_TARGET_DIR", workspace::target_dir("asan"));
    // Some tests allocate more memory than the machine has, and expect an error instead of an
    // abort.
    let null = "allocator_may_return_null=1";
    // The tests in modules `linux` are skipped: they limit the address space, and the sanitizer
    // needs terabytes of it. The program's tests leave threads running that still write to a
    // process that has ended.
    let null_without_leaks = "allocator_may_return_null=1:detect_leaks=0";
    for (options, packages) in [
        (
            null,
            &["tamis-sync", "tamis-hash", "tamis-bloom", "tamis-cuckoo", "tamis-formats", "tamis"]
                [..],
        ),
        (null_without_leaks, &["tamis-cli"][..]),
    ] {
        let _env = sh.push_env("ASAN_OPTIONS", options);
        let packages: Vec<_> = packages.iter().flat_map(|name| ["--package", name]).collect();
        cmd!(
            sh,
            "cargo +nightly test --release --target {host} {packages...} --all-features --lib --bins --tests
             -- --skip linux::"
        )
        .run()?;
    }
    Ok(())
}

/// Returns the target triple of this machine. Sanitizers need an explicit target.
fn host(sh: &Shell) -> Result<String> {
    let version = cmd!(sh, "rustc -vV").quiet().read()?;
    let host = version.lines().find_map(|line| line.strip_prefix("host: "));
    Ok(host.ok_or("`rustc -vV` names no host")?.to_owned())
}
