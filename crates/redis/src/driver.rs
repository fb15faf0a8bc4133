//! The runtime of a blocking filter, and how a call waits for its future.
//!
//! The calling thread drives the connections while it waits. So a call of the only thread needs no
//! other one: what it sends to several shards is written at once, and the reply wakes nobody. Of
//! several threads that wait, one drives the connections of all. Between calls nobody does, so
//! nothing may depend on that: `connection.rs` asks an idle connection whether it is alive.

use core::pin::{Pin, pin};
use std::panic::resume_unwind;
use std::thread;

use tokio::runtime::{Handle, Runtime};

use crate::error::Error;
use crate::process::OwnProcess;

/// The runtime.
#[derive(Debug)]
pub(crate) struct Driver {
    runtime: OwnProcess<Runtime>,
}

impl Driver {
    pub(crate) fn new() -> Result<Self, Error> {
        let built = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = built.map_err(|error| Error::System { reason: error.to_string().into() })?;
        Ok(Self { runtime: OwnProcess::new(runtime) })
    }

    /// Waits for a future.
    pub(crate) fn wait<F: Future<Output: Send> + Send>(&self, future: F) -> F::Output {
        let mut output = None;
        self.drive(pin!(async { output = Some(future.await) }));
        let Some(output) = output else { unreachable!("the future has ended") };
        output
    }

    /// Waits for a future of any type, so that programs need no code of the runtime for each.
    fn drive(&self, future: Pin<&mut (dyn Future<Output = ()> + Send)>) {
        let runtime: &Runtime = &self.runtime;
        // A thread of another runtime may not drive this one, also where it may block, as in
        // `spawn_blocking`: nothing tells it from one that runs tasks. Such a call has its own
        // thread.
        if Handle::try_current().is_ok() {
            let waited = thread::scope(|scope| scope.spawn(|| runtime.block_on(future)).join());
            return waited.unwrap_or_else(|panic| resume_unwind(panic));
        }
        runtime.block_on(future);
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        // To wait for its tasks is not allowed inside another runtime, and there is nothing to wait
        // for.
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

#[cfg(test)]
mod tests {
    use core::time::Duration;

    use super::*;

    /// A future that needs timers, tasks, and more wake-ups than a task of tokio may use at once.
    async fn work() -> u32 {
        let (sender, mut numbers) = tokio::sync::mpsc::unbounded_channel();
        tokio::spawn(async move {
            tokio::time::sleep(Duration::from_millis(1)).await;
            (0..10_000).for_each(|number| _ = sender.send(number));
        });
        let mut sum = 0;
        while let Some(number) = numbers.recv().await {
            sum += number;
        }
        sum
    }

    #[test]
    fn it_waits_in_every_thread() {
        let run = || Driver::new().unwrap().wait(work());
        assert_eq!(run(), 49_995_000);
        let single = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let several = tokio::runtime::Builder::new_multi_thread().worker_threads(1).build();
        let several = several.unwrap();
        for runtime in [&single, &several] {
            assert_eq!(runtime.block_on(async move { run() }), 49_995_000);
            let spawned = async move { tokio::spawn(async move { run() }).await.unwrap() };
            assert_eq!(runtime.block_on(spawned), 49_995_000);
            let blocking = async move { tokio::task::spawn_blocking(run).await.unwrap() };
            assert_eq!(runtime.block_on(blocking), 49_995_000);
        }
    }
}
