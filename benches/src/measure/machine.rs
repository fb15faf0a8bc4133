//! The machine and the state of the sources, as far as the system reports them.

use std::path::Path;
use std::process::Command;
use std::time::SystemTime;
use std::{fs, thread};

use crate::figure::bytes;
use crate::measure::redis;
use crate::record::Facts;

/// A data cache of the first core: its name, and its size in bytes.
type Cache = (String, u64);

/// Returns the caches that hold data, the nearest first; none where the system does not report
/// them.
fn caches() -> Vec<Cache> {
    let directory = Path::new("/sys/devices/system/cpu/cpu0/cache");
    let read = |index: usize, name: &str| text(&directory.join(format!("index{index}/{name}")));
    let levels = (0..).map_while(|index| {
        Some((read(index, "level")?, read(index, "type")?, read(index, "size")?))
    });
    levels
        .filter(|(_, kind, _)| kind != "Instruction")
        .filter_map(|(level, _, size)| Some((format!("L{level}"), kibibytes(&size)? * 1024)))
        .collect()
}

/// Returns what the machine is, and what was measured when: pairs of a name and a value. `command`
/// is the command that measured.
pub(super) fn facts(command: &str) -> Facts {
    let model = field("/proc/cpuinfo", "model name");
    let family = field("/proc/cpuinfo", "cpu family").zip(field("/proc/cpuinfo", "model"));
    let caches = caches().into_iter().map(|(name, size)| format!("{name} {}", bytes(size as f64)));
    let memory = field("/proc/meminfo", "MemTotal").and_then(|total| kibibytes(&total));
    let pages = text(Path::new("/sys/kernel/mm/transparent_hugepage/enabled"));
    let now = humantime::format_rfc3339_seconds(SystemTime::now()).to_string();
    let (server, version) = server().unzip();
    let facts = [
        ("processor", model),
        ("family and model", family.map(|(family, model)| format!("{family}, {model}"))),
        ("cores to run on", thread::available_parallelism().map(|cores| cores.to_string()).ok()),
        ("caches", Some(caches.collect::<Vec<_>>().join(", "))),
        ("memory", memory.map(|size| bytes(size as f64 * 1024.0))),
        ("huge pages", pages.map(|modes| chosen(&modes))),
        (server.as_deref().unwrap_or("redis-server"), version),
        ("commit", output("git", &["describe", "--always", "--dirty"])),
        ("compiler", output("rustc", &["--version"])),
        ("date", now.split('T').next().map(str::to_owned)),
        ("made by", Some(command.to_owned())),
    ];
    let known = facts.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?)));
    known.filter(|(_, value)| !value.is_empty()).collect()
}

/// Returns the name and the version of the server that the measurements start, if it is installed.
fn server() -> Option<(String, String)> {
    name_and_version(&output(&redis::program(), &["--version"])?)
}

/// Reads what a server prints about itself, which begins with `Redis server v=7.0.15` or the like.
fn name_and_version(text: &str) -> Option<(String, String)> {
    let (product, _) = text.split_once(" server ")?;
    let version = text.split_whitespace().find_map(|word| word.strip_prefix("v="))?;
    Some((format!("{}-server", product.to_lowercase()), version.to_owned()))
}

/// Returns the one of several modes that is in brackets.
fn chosen(modes: &str) -> String {
    modes.split(['[', ']']).nth(1).unwrap_or(modes).to_owned()
}

/// Returns the number before `K` or `kB`, which is how Linux writes sizes.
fn kibibytes(size: &str) -> Option<u64> {
    size.trim_end_matches(|c: char| !c.is_ascii_digit()).parse().ok()
}

/// Returns the first value of that name in a file of `name: value` lines.
fn field(file: &str, name: &str) -> Option<String> {
    let text = text(Path::new(file))?;
    let mut pairs = text.lines().filter_map(|line| line.split_once(':'));
    pairs.find(|(key, _)| key.trim() == name).map(|(_, value)| value.trim().to_owned())
}

fn text(file: &Path) -> Option<String> {
    Some(fs::read_to_string(file).ok()?.trim().to_owned())
}

fn output(program: &str, arguments: &[&str]) -> Option<String> {
    let output = Command::new(program).args(arguments).output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    output.status.success().then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_and_modes_of_linux_are_read() {
        assert_eq!(
            ["48K", "266240K", "24684092 kB", ""].map(kibibytes),
            [Some(48), Some(266_240), Some(24_684_092), None]
        );
        assert_eq!(chosen("always [madvise] never"), "madvise");
    }

    #[test]
    fn the_product_of_a_server_is_read() {
        let read = |product: &str| {
            let text = format!("{product} v=8.1.4 sha=00000000:0 malloc=jemalloc-5.3.0 bits=64");
            name_and_version(&text).map(|(name, version)| format!("{name} {version}"))
        };
        assert_eq!(read("Redis server").unwrap(), "redis-server 8.1.4");
        assert_eq!(read("Valkey server").unwrap(), "valkey-server 8.1.4");
        assert_eq!(read("Server"), None);
    }
}
