//! The machine and the state of the sources, as far as the system reports them.

use std::path::Path;
use std::process::Command;
use std::{fs, thread};

use super::figure::bytes;

/// A data cache of the first core: its name, and its size in bytes.
pub(super) type Cache = (String, u64);

/// Returns the caches that hold data, the nearest first; none where the system does not report
/// them.
pub(super) fn caches() -> Vec<Cache> {
    let folder = Path::new("/sys/devices/system/cpu/cpu0/cache");
    let read = |index: usize, name: &str| text(&folder.join(format!("index{index}/{name}")));
    let levels = (0..).map_while(|index| {
        Some((read(index, "level")?, read(index, "type")?, read(index, "size")?))
    });
    levels
        .filter(|(_, kind, _)| kind != "Instruction")
        .filter_map(|(level, _, size)| Some((format!("L{level}"), kibibytes(&size)? * 1024)))
        .collect()
}

/// Returns what the machine is: pairs of a name and a value.
pub(super) fn facts() -> Vec<(&'static str, String)> {
    let model = field("/proc/cpuinfo", "model name");
    let cores = thread::available_parallelism().map(|cores| cores.to_string()).ok();
    let caches = caches().into_iter().map(|(name, size)| format!("{name} {}", bytes(size as f64)));
    let caches = caches.collect::<Vec<_>>().join(", ");
    let memory = field("/proc/meminfo", "MemTotal")
        .and_then(|total| kibibytes(&total))
        .map(|size| bytes(size as f64 * 1024.0));
    let facts = [
        ("processor", model),
        ("cores to run on", cores),
        ("caches", (!caches.is_empty()).then_some(caches)),
        ("memory", memory),
        (
            "huge pages",
            text(Path::new("/sys/kernel/mm/transparent_hugepage/enabled"))
                .map(|modes| chosen(&modes)),
        ),
        ("commit", output("git", &["describe", "--always", "--dirty"])),
        ("compiler", output("rustc", &["--version"])),
    ];
    facts.into_iter().filter_map(|(name, value)| Some((name, value?))).collect()
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
    let pairs = text.lines().filter_map(|line| line.split_once(':'));
    pairs
        .map(|(key, value)| (key.trim(), value.trim()))
        .find(|(key, _)| *key == name)
        .map(|(_, value)| value.to_owned())
}

fn text(file: &Path) -> Option<String> {
    Some(fs::read_to_string(file).ok()?.trim().to_owned())
}

fn output(program: &str, arguments: &[&str]) -> Option<String> {
    let output = Command::new(program)
        .args(arguments)
        .output()
        .ok()
        .filter(|output| output.status.success())?;
    Some(String::from_utf8_lossy(&output.stdout).trim().to_owned())
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
}
