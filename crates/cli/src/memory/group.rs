//! What the control groups of this process leave of their memory: its own and all above it, of
//! version 2 and version 1.

use std::fs;
use std::path::Path;

/// Where the hierarchies of groups are mounted.
const MOUNTED: &str = "/sys/fs/cgroup";

/// The names of the files of one version.
struct Files {
    limit: &'static str,
    current: &'static str,
    /// The bytes of files in memory, which the system drops when memory is needed: names in
    /// `memory.stat`.
    cached: [&'static str; 2],
}

const VERSION_2: Files = Files {
    limit: "memory.max",
    current: "memory.current",
    cached: ["active_file", "inactive_file"],
};

const VERSION_1: Files = Files {
    limit: "memory.limit_in_bytes",
    current: "memory.usage_in_bytes",
    cached: ["total_active_file", "total_inactive_file"],
};

/// The bytes that the tightest of the groups leaves, if one has a limit.
pub(super) fn left() -> Option<u64> {
    left_in(Path::new(MOUNTED), &fs::read_to_string("/proc/self/cgroup").ok()?)
}

/// The same, where `groups` is the text of `/proc/self/cgroup`: a line `0::/path` for version 2,
/// and a line `number:memory:/path` for version 1.
fn left_in(mounted: &Path, groups: &str) -> Option<u64> {
    let hierarchies = groups.lines().filter_map(|line| {
        let (_, line) = line.split_once(':')?;
        let (controllers, path) = line.split_once(":/")?;
        if controllers.is_empty() {
            Some((mounted.to_owned(), path, &VERSION_2))
        } else if controllers.split(',').any(|name| name == "memory") {
            Some((mounted.join("memory"), path, &VERSION_1))
        } else {
            None
        }
    });
    // A limit counts for all groups below. In a container the path may be that of the host: then
    // only the root exists.
    hierarchies
        .flat_map(|(root, path, files)| {
            let groups: Vec<_> =
                Path::new(path).ancestors().map(|group| root.join(group)).collect();
            groups.into_iter().filter_map(|group| left_of(&group, files))
        })
        .min()
}

/// What one group leaves, if it has a limit.
fn left_of(group: &Path, files: &Files) -> Option<u64> {
    let text = |name| fs::read_to_string(group.join(name)).ok();
    // Without a limit the file of version 2 contains "max", and that of version 1 a number above
    // any memory.
    let limit: u64 = text(files.limit)?.trim().parse().ok()?;
    let current: u64 = text(files.current)?.trim().parse().ok()?;
    let stat = text("memory.stat").unwrap_or_default();
    let cached = stat.lines().filter_map(|line| {
        let (name, bytes) = line.split_once(' ')?;
        files.cached.contains(&name).then(|| bytes.trim().parse::<u64>().ok())?
    });
    let used = current.saturating_sub(cached.fold(0, u64::saturating_add));
    Some(limit.saturating_sub(used))
}

#[cfg(test)]
mod tests {
    use tempfile::{TempDir, tempdir};

    use super::*;

    fn folder(files: &[(&str, &str)]) -> TempDir {
        let folder = tempdir().expect("a directory");
        for (name, text) in files {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().expect("a directory")).expect("created");
            fs::write(path, text).expect("written");
        }
        folder
    }

    #[test]
    fn the_tightest_group_counts_and_files_in_memory_are_free() {
        let root = folder(&[
            ("a/memory.max", "5000\n"),
            ("a/memory.current", "4200\n"),
            ("a/memory.stat", "anon 9\nactive_file 100\ninactive_file 200\nslab 7\n"),
            ("a/b/memory.max", "max\n"),
            ("a/b/memory.current", "4000\n"),
            ("a/b/c/memory.max", "9000\n"),
            ("a/b/c/memory.current", "3000\n"),
        ]);
        let left = |groups| left_in(root.path(), groups);
        assert_eq!(left("0::/a\n"), Some(5000 - (4200 - 300)));
        assert_eq!(left("0::/a/b\n"), Some(1100));
        assert_eq!(left("0::/a/b/c\n"), Some(1100));
        assert_eq!(left("0::/\n"), None);
        assert_eq!(left("0::/elsewhere\n"), None);
        assert_eq!(left(""), None);
    }

    #[test]
    fn groups_of_version_1_are_read() {
        let root = folder(&[
            ("memory/memory.limit_in_bytes", "9223372036854771712\n"),
            ("memory/memory.usage_in_bytes", "77\n"),
            ("memory/d/memory.limit_in_bytes", "1000\n"),
            ("memory/d/memory.usage_in_bytes", "1500\n"),
            ("memory/d/memory.stat", "cache 1\ntotal_inactive_file 800\ninactive_file 1\n"),
        ]);
        let left = |groups| left_in(root.path(), groups);
        assert_eq!(left("11:cpu,cpuacct:/d\n4:hugetlb,memory:/d\n0::/d\n"), Some(300));
        // The path of the host, of which the container sees the root only.
        assert_eq!(left("4:memory:/docker/0815\n"), Some(9_223_372_036_854_771_712 - 77));
        assert_eq!(left("4:cpu:/d\n"), None);
    }
}
