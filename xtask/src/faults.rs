//! `faults`: saves a filter, or a set of filters, while each system call of the save, in turn,
//! fails or is the last one before a kill.
//!
//! The path must then have the old file or the new one, byte for byte. strace injects the faults.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

use xshell::{Shell, cmd};

use crate::{Result, workspace};

/// What strace does to a system call.
const FAULTS: [(&str, Fault); 5] = [
    ("signal=KILL", Fault::Kill),
    ("error=EIO", Fault::Error),
    ("error=ENOSPC", Fault::Error),
    ("error=EINTR", Fault::Error),
    // The call does nothing, and returns that it was successful, or that it wrote a few bytes.
    ("retval=100", Fault::Lie),
];

#[derive(Clone, Copy, PartialEq)]
enum Fault {
    Kill,
    Error,
    Lie,
}

/// The calls that can be believed to have written: a lie about another, such as `mmap`, is no fault
/// of a disk.
const WRITES: [&str; 3] = ["write", "fsync", "fdatasync"];

pub(crate) fn run(sh: &Shell) -> Result {
    if cmd!(sh, "strace --version").quiet().ignore_stdout().ignore_stderr().run().is_err() {
        return Err("strace is missing: install it (`apt install strace`)".into());
    }
    cmd!(sh, "cargo build --package tamis-formats --example faults").run()?;
    let program = workspace::target_dir("debug").join("examples/faults");
    for kind in ["bloom", "cuckoo", "live", "set"] {
        for exists in [false, true] {
            // A live file is created only where there is none.
            if kind != "live" || !exists {
                let runs = Save { sh, program: &program, kind, exists }.all()?;
                let old = if exists { "an old file" } else { "no file" };
                eprintln!("{kind}, {old}: {runs} runs left the old state or the new file");
            }
        }
    }
    Ok(())
}

/// A save that is run again and again, each time with another fault.
struct Save<'s> {
    sh: &'s Shell,
    program: &'s Path,
    kind: &'s str,
    /// Whether the path has an old file.
    exists: bool,
}

impl Save<'_> {
    /// Runs the save with all faults. Returns the number of runs.
    fn all(&self) -> Result<u32> {
        let Self { sh, program, kind, .. } = *self;
        let folder = sh.create_temp_dir()?;
        let file = |name: &str| folder.path().join(name);
        let (path, old, new) = (file("in/saved"), file("old"), file("new"));
        for (seed, path) in [("1", &old), ("2", &new)] {
            cmd!(sh, "{program} save {kind} {path} {seed}").quiet().run()?;
        }
        let (old, new) = (self.exists.then(|| fs::read(&old)).transpose()?, fs::read(&new)?);
        let calls = self.calls(&path, old.as_deref(), &file("log"))?;
        let mut runs = 0;
        for (call, count) in &calls {
            for (fault, effect) in FAULTS {
                if effect == Fault::Lie && !WRITES.contains(&call.as_str()) {
                    continue;
                }
                for when in 1..=*count {
                    let inject = format!("inject={call}:{fault}:when={when}");
                    self.with(&inject, effect, &path, old.as_deref(), &new)
                        .map_err(|error| format!("{kind}, {inject}: {error}"))?;
                    runs += 1;
                }
            }
        }
        Ok(runs)
    }

    /// Returns the number of calls of each kind in a save without faults, after checks of their
    /// order.
    fn calls(&self, path: &Path, old: Option<&[u8]>, log: &Path) -> Result<Vec<(String, u32)>> {
        let Self { sh, program, kind, .. } = *self;
        prepare(path, old)?;
        cmd!(sh, "strace -y -qq -o {log} {program} save {kind} {path} 2").quiet().run()?;
        let log = fs::read_to_string(log)?;
        let folder = path.parent().ok_or("the path has a folder")?.display().to_string();
        syncs_in_order(&log, &folder)?;
        let mut counts = HashMap::new();
        for call in log.lines().filter_map(|line| line.split_once('(')).map(|(call, _)| call) {
            *counts.entry(call.to_owned()).or_insert(0) += 1;
        }
        // A system never returns an error of `brk`, but the old end of the memory. The C library
        // takes an error for an address.
        counts.remove("brk");
        let mut calls: Vec<_> =
            counts.into_iter().filter(|(call, _)| !call.starts_with(['+', '-', 'e'])).collect();
        calls.sort();
        Ok(calls)
    }

    /// Runs the save with one fault, and checks what is left.
    fn with(
        &self,
        inject: &str,
        fault: Fault,
        path: &Path,
        old: Option<&[u8]>,
        new: &[u8],
    ) -> Result {
        let Self { sh, program, kind, .. } = *self;
        prepare(path, old)?;
        let status = cmd!(sh, "strace -qq -o /dev/null -e {inject} {program} save {kind} {path} 2")
            .quiet()
            .ignore_status()
            .ignore_stderr()
            .output()?
            .status;
        let loads = |path: &Path| {
            let load = cmd!(sh, "{program} load {kind} {path}").quiet().ignore_stderr();
            load.run().is_ok()
        };
        let found = fs::read(path).ok();
        let is_new = found.as_deref() == Some(new);
        if fault == Fault::Lie {
            // The bytes are lost, and nobody knows. A load must notice.
            let is_old = found.as_deref() == old;
            return if is_new || is_old || !loads(path) { Ok(()) } else { Err("it loads".into()) };
        }
        if !is_new && found.as_deref() != old {
            return Err("the path has neither the old file nor the new one".into());
        }
        if status.success() && !is_new {
            return Err("the save failed with the status of a success".into());
        }
        if found.is_some() && !loads(path) {
            return Err("the file does not load".into());
        }
        // What a kill leaves is a whole filter, or none.
        for left in others(path)? {
            if fs::read(&left)? != new && loads(&left) {
                return Err(format!("{} is taken for a filter", left.display()).into());
            }
            if fault == Fault::Error && !inject.contains("unlink") {
                return Err(format!("an error leaves {}", left.display()).into());
            }
        }
        Ok(())
    }
}

/// Makes the directory of the path one with the old file only, if there is one.
fn prepare(path: &Path, old: Option<&[u8]>) -> Result {
    let folder = path.parent().ok_or("the path has a folder")?;
    if folder.exists() {
        fs::remove_dir_all(folder)?;
    }
    fs::create_dir(folder)?;
    if let Some(old) = old {
        fs::write(path, old)?;
    }
    Ok(())
}

/// Returns the files next to the path.
fn others(path: &Path) -> Result<Vec<PathBuf>> {
    let folder = path.parent().ok_or("the path has a folder")?;
    let entries = fs::read_dir(folder)?.map(|entry| Ok(entry?.path()));
    let all: Result<Vec<PathBuf>> = entries.collect();
    Ok(all?.into_iter().filter(|other| other != path).collect())
}

/// Checks that the file is synced, then renamed, then the directory is synced.
fn syncs_in_order(log: &str, folder: &str) -> Result {
    let of_file = format!("<{folder}/.tamis-");
    let of_folder = format!("<{folder}>");
    let is_sync = |line: &str, of: &str| line.starts_with("fsync(") && line.contains(of);
    let mut lines = log.lines();
    if !lines.any(|line| is_sync(line, &of_file)) {
        return Err("the file is not synced".into());
    }
    if !lines.any(|line| line.starts_with("rename") || line.starts_with("link")) {
        return Err("the file is not renamed after its sync".into());
    }
    if !lines.any(|line| is_sync(line, &of_folder)) {
        return Err("the folder is not synced after the rename".into());
    }
    // Nothing is written to the file after its sync.
    let written = log
        .lines()
        .skip_while(|line| !line.starts_with("fsync("))
        .find(|line| line.starts_with("write(") && line.contains(&of_file));
    written.map_or(Ok(()), |line| Err(format!("written after the sync: {line}").into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SAVE: &str = "write(3</d/.tamis-x.tmp>, \"\", 9) = 9\nfsync(3</d/.tamis-x.tmp>) = 0\n\
                        rename(\"/d/.tamis-x.tmp\", \"/d/saved\") = 0\nfsync(4</d>) = 0\n";

    #[test]
    fn the_syncs_of_a_save_are_found() {
        syncs_in_order(SAVE, "/d").unwrap();
    }

    #[test]
    fn each_missing_or_misplaced_step_is_found() {
        let lines: Vec<&str> = SAVE.lines().collect();
        for without in 1..4 {
            let mut lines = lines.clone();
            lines.remove(without);
            assert!(syncs_in_order(&lines.join("\n"), "/d").is_err(), "without line {without}");
        }
        let folder_first = [lines[0], lines[1], lines[3], lines[2]].join("\n");
        assert!(syncs_in_order(&folder_first, "/d").is_err());
        let write_last = [lines[1], lines[0], lines[2], lines[3]].join("\n");
        assert!(syncs_in_order(&write_last, "/d").is_err());
    }
}
