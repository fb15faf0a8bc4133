//! Processes of a test: the test program, started again, and the words that they share.

use std::env;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use tamis_formats::MapFile;
use tamis_sync::{Lines, Ordering};

/// A process of a test, as it finds itself described in its environment.
pub(crate) struct Role {
    /// What it does.
    pub(crate) name: String,
    /// Its number among the processes of the test.
    pub(crate) number: usize,
    /// The directory of the test.
    pub(crate) folder: PathBuf,
}

impl Role {
    const VARIABLES: [&str; 3] =
        ["TAMIS_PROCESS_ROLE", "TAMIS_PROCESS_NUMBER", "TAMIS_PROCESS_FOLDER"];

    /// Returns the role of this process, or `None` if it is no process of a test.
    pub(crate) fn of_this_process() -> Option<Self> {
        let [name, number, folder] = Self::VARIABLES.map(|name| env::var(name).ok());
        Some(Self { name: name?, number: number?.parse().ok()?, folder: folder?.into() })
    }

    /// Starts the test `process` of this program in a process of its own, with this role.
    pub(crate) fn start(name: &str, number: usize, folder: &Path) -> Process {
        Process(Self::command(name, number, folder).spawn().unwrap())
    }

    /// Returns the command that starts such a process.
    pub(crate) fn command(name: &str, number: usize, folder: &Path) -> Command {
        let mut command = Command::new(env::current_exe().unwrap());
        let [name_variable, number_variable, folder_variable] = Self::VARIABLES;
        command.args(["process", "--exact", "--nocapture"]);
        command.env(name_variable, name).env(number_variable, number.to_string());
        command.env(folder_variable, folder).stdout(Stdio::null());
        command
    }
}

/// A running process. It is killed when the test ends early.
pub(crate) struct Process(Child);

impl Process {
    /// Waits for the end.
    pub(crate) fn wait(mut self) -> ExitStatus {
        self.0.wait().unwrap()
    }

    /// Kills the process (SIGKILL), and returns how it ended.
    pub(crate) fn kill(mut self) -> ExitStatus {
        self.0.kill().unwrap();
        self.0.wait().unwrap()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Words that all processes of a test share: one for the barrier, one line per process, and a bit
/// per item and process.
pub(crate) struct Board {
    lines: Lines,
    processes: usize,
}

impl Board {
    /// Creates the board in a directory, with all words zero.
    pub(crate) fn create(folder: &Path, processes: usize, items: u64) {
        let len = Self::len(processes, items) * 64;
        File::create_new(folder.join("board")).unwrap().set_len(len).unwrap();
    }

    fn len(processes: usize, items: u64) -> u64 {
        1 + processes as u64 * (1 + items.div_ceil(512))
    }

    pub(crate) fn open(folder: &Path, processes: usize, items: u64) -> Self {
        let file = File::options().read(true).write(true).open(folder.join("board")).unwrap();
        // SAFETY: no process makes the board shorter.
        let file = unsafe { MapFile::new(file) };
        let lines = Lines::map_shared(&file, 0, Self::len(processes, items)).unwrap();
        Self { lines, processes }
    }

    /// Waits until all processes have called this `round` times.
    pub(crate) fn wait(&self, round: u64) {
        let arrivals = self.lines.word(0);
        // ORDERING: AcqRel and Acquire, as for every barrier: what a process did before it happens
        // before what any process does after it.
        arrivals.fetch_add(1, Ordering::AcqRel);
        until(|| arrivals.load(Ordering::Acquire) >= round * self.processes as u64);
    }

    /// Returns the number that a process has published.
    pub(crate) fn number_of(&self, process: usize) -> u64 {
        // ORDERING: Acquire, pairs with the Release in `publish`: the inserts before it are visible
        // here.
        self.lines[1 + process].words[0].load(Ordering::Acquire)
    }

    /// Publishes a number, for a process.
    pub(crate) fn publish(&self, process: usize, number: u64) {
        // ORDERING: Release, see `number_of`.
        self.lines[1 + process].words[0].store(number, Ordering::Release);
    }

    /// Records that an insert of a process returned `true` for an item. Returns whether that was
    /// recorded before.
    pub(crate) fn won(&self, process: usize, item: u64) -> bool {
        let (word, bit) = self.place(process, item);
        // ORDERING: Relaxed, the record is read after the process ended.
        self.lines.word(word).fetch_or(bit, Ordering::Relaxed) & bit != 0
    }

    fn place(&self, process: usize, item: u64) -> (usize, u64) {
        let all = self.lines.len() - 1 - self.processes;
        let first = 1 + self.processes + process * (all / self.processes);
        (first * 8 + (item / 64) as usize, 1 << (item % 64))
    }

    /// Returns the numbers of items for which no process, one process, and several processes got
    /// `true`.
    pub(crate) fn winners(&self, items: u64) -> Winners {
        let mut winners = Winners::default();
        for item in 0..items {
            let won = (0..self.processes).filter(|process| {
                let (word, bit) = self.place(*process, item);
                // ORDERING: Relaxed, the processes have ended.
                self.lines.word(word).load(Ordering::Relaxed) & bit != 0
            });
            match won.count() {
                0 => winners.none += 1,
                1 => winners.one += 1,
                _ => winners.several += 1,
            }
        }
        winners
    }
}

/// The numbers of items for which no process, one process, and several processes got `true`.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Winners {
    pub(crate) none: u64,
    pub(crate) one: u64,
    pub(crate) several: u64,
}

/// Waits for a condition. A process that the others wait for may have failed, so this panics after
/// two minutes.
pub(crate) fn until(condition: impl Fn() -> bool) {
    let start = Instant::now();
    while !condition() {
        assert!(start.elapsed() < Duration::from_secs(120), "another process does not go on");
        thread::yield_now();
    }
}
