//! Crawls of a generated site on loopback. The log of its server decides.

mod exact;
mod growth;
mod kills;
mod processes;
mod redis;
mod runs;
mod server;
mod site;

/// Returns `long` under `cargo xtask ci --long`, which sets `TAMIS_LONG` for the compiler,
/// otherwise `quick`.
const fn sample(quick: u64, long: u64) -> u64 {
    if option_env!("TAMIS_LONG").is_some() { long } else { quick }
}

/// The ordinary pages of a site.
const PAGES: u64 = sample(1500, 20_000);
