//! Keeps the cores awake: on a virtual machine, to wake an idle core can take longer than the work
//! of a round trip.

use std::process::{Child, Command, id};
use std::thread::available_parallelism;

use crate::measure::setup::Fallible;

/// A program per core that counts, at the lowest priority. They are killed when this is dropped,
/// and end by themselves soon after this process.
pub(super) struct Awake(Vec<Child>);

impl Awake {
    /// Starts the programs.
    pub(super) fn keep() -> Fallible<Self> {
        let mut all = Self(Vec::new());
        let count = "i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done";
        let script = format!("while kill -0 {}; do {count}; done 2> /dev/null", id());
        for _ in 0..available_parallelism()?.get() {
            let counter = Command::new("nice").args(["-n", "19", "sh", "-c", &script]).spawn();
            all.0.push(counter.map_err(|error| format!("nice: {error}"))?);
        }
        Ok(all)
    }
}

impl Drop for Awake {
    fn drop(&mut self) {
        for counter in &mut self.0 {
            _ = counter.kill();
            _ = counter.wait();
        }
    }
}
