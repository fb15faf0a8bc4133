//! `report`: measures our filters and those of other crates, and writes tables and charts.

use xshell::{Shell, cmd};

use crate::{Result, compare, workspace};

#[derive(Clone, Copy, Debug, clap::Args)]
pub(crate) struct Args {
    /// Measure for two minutes instead of about an hour, and do not change the committed report
    #[arg(long)]
    quick: bool,
    /// Measure the figures of an earlier run once more, and keep the better ones: for noisy
    /// machines
    #[arg(long, conflicts_with = "fresh")]
    again: bool,
    /// Measure everything, instead of continuing an earlier run
    #[arg(long)]
    fresh: bool,
    /// Measure only the memory of `tamis dedup` by the number of lines, and write
    /// `benches/MEMORY.md`, in two minutes
    #[arg(long, conflicts_with_all = ["quick", "again", "fresh"])]
    memory: bool,
    /// Measure only the filters that grow, count or rotate, and write `benches/GROWING.md`, in five
    /// minutes if the machine is idle; with `--quick` a tenth of the items, and the page goes to
    /// the directory `target`
    #[arg(long, conflicts_with_all = ["again", "fresh", "memory"])]
    growing: bool,
    /// Measure only what a Bloom filter in Redis costs by several schemes, and write
    /// `benches/REDIS.md`, in six minutes (needs redis-server, which it starts itself); with
    /// `--quick` as `--growing`
    #[arg(long, conflicts_with_all = ["again", "fresh", "memory", "growing"])]
    redis: bool,
}

pub(crate) fn run(sh: &Shell, args: Args) -> Result {
    let Args { quick, again, fresh, memory, growing, redis } = args;
    if memory {
        return lines(sh);
    }
    if growing {
        return page(sh, quick, "growing", "growing", "peers,report");
    }
    if redis {
        return page(sh, quick, "redis_costs", "redis", "report");
    }
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

/// Measures the memory of the program as released.
fn lines(sh: &Shell) -> Result {
    let (program, out) = (compare::build(sh)?.join("tamis"), workspace::root().join("benches"));
    let cargo = ["run", "--release", "--package", "tamis-benches", "--features", "report"];
    let command = ["--command", "cargo xtask report --memory"];
    cmd!(sh, "cargo {cargo...} --bin lines -- {command...} {program} {out}").run()?;
    Ok(())
}

/// Runs a program that measures one subject, and writes a page of its own. `option` is the option
/// of this command.
fn page(sh: &Shell, quick: bool, program: &str, option: &str, features: &str) -> Result {
    let out =
        if quick { workspace::target_dir("report") } else { workspace::root().join("benches") };
    let flag = quick.then_some("--quick");
    sh.create_dir(&out)?;
    let cargo = ["run", "--release", "--package", "tamis-benches", "--features", features];
    let option = format!("cargo xtask report --{option}");
    let command = [option.as_str()].into_iter().chain(flag).collect::<Vec<_>>().join(" ");
    cmd!(sh, "cargo {cargo...} --bin {program} -- {flag...} --command {command} {out}").run()?;
    Ok(())
}
