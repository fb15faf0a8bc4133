//! The thread of a blocking filter, and how a call waits for its future.
//!
//! The calling thread polls the future and sleeps in between; the thread of the filter drives the
//! connections and the timers. `Runtime::block_on` would do the same, but panics in a thread of
//! another runtime, also where blocking is allowed, as in `spawn_blocking`. Nothing tells such a
//! thread from one that runs tasks.

use core::pin::pin;
use core::task::{Context, Poll, Waker};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::task::Wake;

use tokio::runtime::{Handle, Runtime};

use crate::Error;

/// The thread that drives the connections.
#[derive(Debug)]
pub(crate) struct Driver {
    handle: Handle,
    /// There until this is dropped.
    runtime: Option<Runtime>,
}

impl Driver {
    pub(crate) fn new() -> Result<Self, Error> {
        let mut builder = tokio::runtime::Builder::new_multi_thread();
        let built = builder.worker_threads(1).thread_name("tamis-redis").enable_all().build();
        let runtime = built.map_err(|error| Error::System { reason: error.to_string().into() })?;
        Ok(Self { handle: runtime.handle().clone(), runtime: Some(runtime) })
    }

    /// Waits for a future.
    pub(crate) fn wait<F: Future>(&self, future: F) -> F::Output {
        // Its timers and connections belong to the thread of the filter, also if this thread is one
        // of another runtime.
        let _entered = self.handle.enter();
        // In a task of another runtime, the budget of that task would end, and nothing would be
        // ready for ever.
        let mut future = pin!(tokio::task::unconstrained(future));
        let bell = Arc::new(Bell::default());
        let waker = Waker::from(Arc::clone(&bell));
        let mut context = Context::from_waker(&waker);
        loop {
            if let Poll::Ready(output) = future.as_mut().poll(&mut context) {
                return output;
            }
            bell.wait();
        }
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        // To wait for the thread is not allowed inside another runtime, and there is nothing to
        // wait for.
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

/// Wakes a thread that sleeps. What is rung before it sleeps is not lost.
#[derive(Default)]
struct Bell {
    is_rung: Mutex<bool>,
    changed: Condvar,
}

impl Bell {
    /// Sleeps until it is rung.
    fn wait(&self) {
        // No code that could panic runs while it is locked.
        let is_rung = self.is_rung.lock().unwrap_or_else(PoisonError::into_inner);
        let woken = self.changed.wait_while(is_rung, |is_rung| !*is_rung);
        *woken.unwrap_or_else(PoisonError::into_inner) = false;
    }
}

impl Wake for Bell {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        *self.is_rung.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.changed.notify_one();
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
        let several =
            tokio::runtime::Builder::new_multi_thread().worker_threads(1).build().unwrap();
        for runtime in [&single, &several] {
            assert_eq!(runtime.block_on(async move { run() }), 49_995_000);
            let spawned = async move { tokio::spawn(async move { run() }).await.unwrap() };
            assert_eq!(runtime.block_on(spawned), 49_995_000);
            let blocking = async move { tokio::task::spawn_blocking(run).await.unwrap() };
            assert_eq!(runtime.block_on(blocking), 49_995_000);
        }
    }
}
