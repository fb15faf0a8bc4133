//! Crawls of a generated site on loopback. The log of its server decides.

mod exact;
mod growth;
mod kills;
#[cfg(target_os = "linux")]
mod pipes;
mod processes;
mod proxy;
mod reasons;
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

/// The product's lines of code: neither blank, nor a comment, nor a test.
#[test]
fn a_person_can_read_the_crawler_at_once() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut lines = 0;
    for file in std::fs::read_dir(folder).unwrap() {
        let text = std::fs::read_to_string(file.unwrap().path()).unwrap();
        let product = text.split("#[cfg(test)]\nmod tests").next().unwrap();
        let is_code = |line: &&str| !line.is_empty() && !line.starts_with("//");
        lines += product.lines().map(str::trim).filter(is_code).count();
    }
    assert!((500..=1100).contains(&lines), "{lines} lines");
}
