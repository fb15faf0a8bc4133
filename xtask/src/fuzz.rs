//! `fuzz`: runs the fuzz targets, or replays the inputs that they found.

use xshell::{Shell, cmd};

use crate::Result;

/// The largest allocation in MiB: a file that a loader trusts too early would need more.
const MALLOC_LIMIT: &str = "-malloc_limit_mb=64";
/// The longest time of an input in seconds: the slowest that are known take less than a tenth of
/// it.
const TIMEOUT: &str = "-timeout=10";

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The target; all targets, one after another, if not given
    target: Option<String>,
    /// Seconds to fuzz each target
    #[arg(long, default_value_t = 60)]
    seconds: u32,
    /// Use the stable toolchain: finds panics and wrong answers, but no memory errors (no
    /// AddressSanitizer)
    #[arg(long)]
    stable: bool,
    /// Only replay the regressions and some pseudo-random inputs (needs no fuzzer)
    #[arg(long, conflicts_with_all = ["target", "seconds", "stable"])]
    replay: bool,
}

pub(crate) fn run(sh: &Shell, args: &Args) -> Result {
    if args.replay {
        return replay(sh);
    }
    if cmd!(sh, "cargo fuzz --version").quiet().ignore_stdout().ignore_stderr().run().is_err() {
        return Err("cargo-fuzz is missing: `cargo install --locked cargo-fuzz`".into());
    }
    let toolchain = if args.stable { "+stable" } else { "+nightly" };
    if cmd!(sh, "cargo {toolchain} --version").quiet().ignore_stdout().run().is_err() {
        return Err("AddressSanitizer needs nightly: `rustup toolchain install nightly`, \
                    or pass --stable to fuzz without it"
            .into());
    }
    let sanitizer = if args.stable { "none" } else { "address" };
    let time = format!("-max_total_time={}", args.seconds);
    // Each target has a directory of the inputs that it must pass.
    let all = sh.read_dir("fuzz/regressions")?;
    let all = all.iter().filter_map(|folder| folder.file_name()?.to_str());
    let targets: Vec<&str> = args.target.as_deref().map_or_else(|| all.collect(), |one| vec![one]);
    for target in targets {
        // The fuzzer reads the inputs in both directories, and writes new inputs to the first.
        let corpus = format!("fuzz/corpus/{target}");
        let regressions = format!("fuzz/regressions/{target}");
        sh.create_dir(&corpus)?;
        cmd!(
            sh,
            "cargo {toolchain} fuzz run --features libfuzzer --sanitizer {sanitizer} target {corpus}
             {regressions}"
        )
        .args(["--", &time, MALLOC_LIMIT, TIMEOUT])
        .env("TAMIS_FUZZ_TARGET", target)
        .run()?;
    }
    Ok(())
}

/// Runs the code of the targets as ordinary tests.
pub(crate) fn replay(sh: &Shell) -> Result {
    cmd!(sh, "cargo test --package tamis-fuzz").run()?;
    Ok(())
}
