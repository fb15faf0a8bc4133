//! `report`: measures our filters and those of other crates, and writes tables and charts.

use xshell::{Shell, cmd};

use crate::{Result, workspace};

#[derive(Clone, Copy, Debug, clap::Args)]
pub(crate) struct Args {
    /// Measure for two minutes instead of about an hour, and do not change the committed report
    #[arg(long)]
    quick: bool,
    /// Measure the figures of an earlier run once more, and keep the better ones: for noisy machines
    #[arg(long, conflicts_with = "fresh")]
    again: bool,
    /// Measure everything, instead of continuing an earlier run
    #[arg(long)]
    fresh: bool,
}

pub(crate) fn run(sh: &Shell, Args { quick, again, fresh }: Args) -> Result {
    let folder = workspace::target_dir("report");
    let (name, flag, out) = if quick {
        ("quick", Some("--quick"), folder.clone())
    } else {
        ("full", None, workspace::root().join("benches"))
    };
    let records = folder.join(name).with_extension("jsonl");
    sh.create_dir(&folder)?;
    if fresh {
        sh.remove_path(&records)?;
    }
    // The same features for both programs, so that nothing is built twice.
    let cargo = ["run", "--release", "--package", "tamis-benches", "--features", "peers,report"];
    let again = again.then_some("--again");
    cmd!(sh, "cargo {cargo...} --bin measure -- {flag...} {again...} --out {records}").run()?;
    let command = ["cargo xtask report"].into_iter().chain(flag).collect::<Vec<_>>().join(" ");
    cmd!(sh, "cargo {cargo...} --bin report -- {records} {out} {command}").run()?;
    Ok(())
}
