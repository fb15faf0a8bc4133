//! `report`: measures our filters and those of other crates, and writes tables and charts.

use xshell::{Shell, cmd};

use crate::{Result, compare, workspace};

#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Args {
    /// Measure small filters, in two minutes, and write to the directory `target/report` instead of
    /// `benches`
    #[arg(long)]
    quick: bool,
    /// In the section `growing`, measure also filters that grow to 100 million items
    #[arg(long, conflicts_with_all = ["quick", "draw"])]
    long: bool,
    /// Measure only this section, by the name of its file in `benches/data`; the figures of the
    /// others stay
    #[arg(long, value_name = "SECTION")]
    only: Vec<String>,
    /// Measure nothing: write the pages and charts from the figures in `benches/data`
    #[arg(long, conflicts_with = "only")]
    draw: bool,
}

pub(crate) fn run(sh: &Shell, Args { quick, long, only, draw }: Args) -> Result {
    let root = workspace::root();
    let out = if quick { workspace::target_dir("report") } else { root.join("benches") };
    let data = out.join("data");
    let mut options: Vec<String> = Vec::new();
    options.extend(quick.then(|| "--quick".to_owned()));
    options.extend(long.then(|| "--long".to_owned()));
    options.extend(draw.then(|| "--draw".to_owned()));
    options.extend(only.iter().map(|section| format!("--only={section}")));
    let command = [&["cargo xtask report".to_owned()], &options[..]].concat().join(" ");
    let dedup = !draw && (only.is_empty() || only.iter().any(|section| section == "dedup"));
    let program = if dedup { Some(compare::build(sh)?.join("tamis")) } else { None };
    let program = program.map(|path| format!("--program={}", path.display()));
    let cargo = ["run", "--release", "--package", "tamis-benches", "--features", "peers,report"];
    sh.create_dir(&out)?;
    cmd!(sh, "cargo {cargo...} --bin report -- {options...} {program...}")
        .args(["--command", &command])
        .args([&data, &out])
        .run()?;
    Ok(())
}
