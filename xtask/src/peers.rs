//! `peers`: builds filters of other systems with `tamis`, and lets those systems read them.
//!
//! A peer must find every inserted key, and answer as `tamis` does about each absent one.

mod compare;
mod install;
mod keys;
mod list;

use std::path::PathBuf;

use xshell::{Shell, cmd};

use self::compare::{Comparison, Counts};
use self::install::Installer;
use self::keys::Keys;
use self::list::{PEERS, Peer};
use crate::{Result, workspace};

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The peers to ask; all if none is given
    names: Vec<String>,
    /// The number of absent keys for each filter
    #[arg(long, default_value_t = 100_000)]
    absent: usize,
    /// The program `tamis` to use, instead of one that is built now
    #[arg(long, value_name = "PROGRAM")]
    tamis: Option<PathBuf>,
}

pub(crate) fn run(sh: &Shell, args: &Args) -> Result {
    let peers = named(&args.names)?;
    let tamis = match &args.tamis {
        Some(tamis) => tamis.canonicalize()?,
        None => build(sh)?,
    };
    let folder = workspace::target_dir("peers");
    sh.create_dir(&folder)?;
    let installer = Installer::new(sh, &folder);
    // Two runs at once share what is installed, but no filters.
    let files = sh.create_temp_dir()?;
    let comparison = Comparison::new(sh, &tamis, files.path());

    let (mut rows, mut failures) = (Vec::new(), Vec::new());
    for peer in peers {
        // One peer that cannot be had says nothing about the others.
        match ask(peer, &installer, &comparison, args.absent) {
            Ok((version, counts)) => {
                if counts.disagreements > 0 {
                    failures
                        .push(format!("{}: disagreements: {}", peer.name, counts.disagreements));
                }
                rows.push(row(peer.name, &version, counts));
            }
            Err(error) => failures.push(format!("{}: {error}", peer.name)),
        }
    }
    println!("| peer | version | filters | inserted | absent | found of these | disagreements |");
    println!("|---|---|---:|---:|---:|---:|---:|");
    rows.iter().for_each(|row| println!("{row}"));
    if failures.is_empty() { Ok(()) } else { Err(failures.join("\n").into()) }
}

/// Returns the peers of these names, or all.
fn named(names: &[String]) -> Result<Vec<&'static Peer>> {
    if let Some(name) = names.iter().find(|name| PEERS.iter().all(|peer| peer.name != **name)) {
        let known: Vec<_> = PEERS.iter().map(|peer| peer.name).collect();
        return Err(format!("no peer is named {name}; there are {}", known.join(", ")).into());
    }
    let is_named = |peer: &&Peer| names.is_empty() || names.iter().any(|name| name == peer.name);
    Ok(PEERS.iter().filter(is_named).collect())
}

/// Builds the program `tamis`. Returns its path.
fn build(sh: &Shell) -> Result<PathBuf> {
    let target = workspace::target_dir("");
    cmd!(sh, "cargo build --release --package tamis-cli --target-dir {target}").run()?;
    Ok(target.join("release").join("tamis"))
}

/// Compares all filters of a peer. Returns its version too.
fn ask(
    peer: &Peer,
    installer: &Installer<'_>,
    comparison: &Comparison<'_>,
    absent: usize,
) -> Result<(String, Counts)> {
    let reader = installer.reader(&peer.origin)?;
    let mut sum = Counts::default();
    for format in peer.formats {
        for &key_type in format.key_types {
            for &size in format.sizes {
                let empty = format.empty.contains(&key_type);
                let keys = Keys::new(key_type, empty, size.inserted, absent);
                let counts = comparison.run(&reader, format.name, key_type, size, &keys)?;
                let rate = size.rate.map(|rate| format!(" at {rate}")).unwrap_or_default();
                eprintln!(
                    "{}: {}, {}, capacity {}{rate}: {} inserted, {} of {} absent keys found, disagreements: {}",
                    peer.name,
                    format.name,
                    key_type.name(),
                    size.capacity,
                    counts.inserted,
                    counts.found,
                    counts.absent,
                    counts.disagreements
                );
                sum.add(counts);
            }
        }
    }
    Ok((reader.version, sum))
}

fn row(name: &str, version: &str, counts: Counts) -> String {
    let Counts { filters, inserted, absent, found, disagreements } = counts;
    format!(
        "| {name} | {version} | {filters} | {inserted} | {absent} | {found} | {disagreements} |"
    )
}
