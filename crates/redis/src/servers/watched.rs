//! Watches a stream: counts the bytes that are written, and ends its writes, which proves that a
//! command was not sent; and knows since when nothing was heard.

use core::pin::Pin;
use core::task::{Context, Poll};
use std::io;
use std::sync::{Arc, Mutex, MutexGuard};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::Instant;

use crate::lock::lock;
use crate::servers::stream::Bytes;

/// A stream whose writes go through a gate.
pub(crate) struct Watched {
    stream: Box<dyn Bytes>,
    gate: Gate,
}

/// What was written to a stream, and when something was read. Clones share it.
#[derive(Clone, Default)]
pub(crate) struct Gate(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    /// The bytes that the stream has taken, and the writes that failed or panicked, of which a part
    /// may have been sent.
    written: u64,
    shut: bool,
    /// When something was last heard, and when the first command was sent since then.
    heard: Option<Instant>,
    asked: Option<Instant>,
}

impl Gate {
    /// Returns a number that grows with each write.
    pub(crate) fn written(&self) -> u64 {
        self.state().written
    }

    /// Ends all writes, and returns the last number. If it was the same before a command was handed
    /// over, no byte of this command was sent, and none ever will be.
    pub(crate) fn shut(&self) -> u64 {
        let mut state = self.state();
        state.shut = true;
        state.written
    }

    /// Whether no write goes through any more.
    pub(crate) fn is_shut(&self) -> bool {
        self.state().shut
    }

    /// Records that a command is sent.
    pub(crate) fn ask(&self) {
        self.state().asked.get_or_insert_with(Instant::now);
    }

    /// Returns when something was last heard.
    pub(crate) fn heard(&self) -> Option<Instant> {
        self.state().heard
    }

    /// Returns since when commands have no reply, one of which was sent at `start`.
    pub(crate) fn silent_since(&self, start: Instant) -> Instant {
        let state = self.state();
        let asked = state.asked.map_or(start, |asked| asked.min(start));
        state.heard.map_or(asked, |heard| heard.max(asked))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        lock(&self.0)
    }
}

impl Watched {
    pub(crate) fn new(stream: Box<dyn Bytes>) -> (Self, Gate) {
        let gate = Gate::default();
        (Self { stream, gate: gate.clone() }, gate)
    }
}

impl AsyncRead for Watched {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let result = Pin::new(&mut self.stream).poll_read(context, buffer);
        if buffer.filled().len() > before {
            let mut state = self.gate.state();
            (state.heard, state.asked) = (Some(Instant::now()), None);
        }
        result
    }
}

impl AsyncWrite for Watched {
    fn poll_write(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let Self { stream, gate } = self.get_mut();
        // Locked while it writes, which does not wait: nobody shuts the gate in between.
        let mut state = gate.state();
        if state.shut {
            // Not an error, at which the driver would end: replies to what was written may still
            // come.
            return Poll::Pending;
        }
        if stream.has_ended() {
            // The system would take the bytes, and nobody would read them.
            return Poll::Ready(Err(io::ErrorKind::BrokenPipe.into()));
        }
        // A stream with encryption may have sent a part before it fails or panics. Until it
        // returns, the write counts as one that has.
        let before = state.written;
        state.written += 1;
        let result = Pin::new(stream).poll_write(context, bytes);
        match &result {
            Poll::Ready(Ok(count)) => state.written = before + *count as u64,
            Poll::Ready(Err(_)) => {}
            Poll::Pending => state.written = before,
        }
        result
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use core::task::Waker;
    use std::io::Read;
    use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    use super::*;

    impl Bytes for tokio::io::DuplexStream {
        fn has_ended(&self) -> bool {
            false
        }
    }

    fn run(test: impl Future<Output = ()>) {
        tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(test);
    }

    #[test]
    fn writes_are_counted_until_the_gate_is_shut() {
        run(async {
            let (near, mut far) = tokio::io::duplex(4);
            let (mut watched, gate) = Watched::new(Box::new(near));
            watched.write_all(b"abc").await.unwrap();
            assert_eq!(gate.written(), 3);
            // One byte is taken, and then the buffer is full.
            assert_eq!((watched.write(b"de").await.unwrap(), gate.written()), (1, 4));
            assert_eq!(gate.shut(), 4);
            let mut read = [0; 4];
            far.read_exact(&mut read).await.unwrap();
            assert_eq!(&read, b"abcd");
            // No write goes through, and replies still do.
            let mut context = Context::from_waker(Waker::noop());
            assert!(Pin::new(&mut watched).poll_write(&mut context, b"f").is_pending());
            assert_eq!(gate.written(), 4);
            far.write_all(b"x").await.unwrap();
            assert_eq!(watched.read_u8().await.unwrap(), b'x');
        });
    }

    /// The runtime has not polled the socket since its end has come.
    #[test]
    fn nothing_is_written_behind_the_end() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let near = std::net::TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (far, _) = listener.accept().unwrap();
        near.set_nonblocking(true).unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let near = tokio::net::TcpStream::from_std(near).unwrap();
            let (mut watched, gate) = Watched::new(Box::new(near));
            watched.write_all(b"a").await.unwrap();
            assert_eq!(gate.written(), 1);
            (&far).read_exact(&mut [0]).unwrap();
            drop(far);
            if cfg!(unix) {
                let error = watched.write(b"b").await.unwrap_err();
                assert_eq!((error.kind(), gate.shut()), (io::ErrorKind::BrokenPipe, 1));
            }
        });
    }

    /// A stream that panics when it is used.
    struct Panicking;

    impl Bytes for Panicking {
        fn has_ended(&self) -> bool {
            false
        }
    }

    impl AsyncRead for Panicking {
        fn poll_read(
            self: Pin<&mut Self>,
            _: &mut Context<'_>,
            _: &mut ReadBuf<'_>,
        ) -> Poll<io::Result<()>> {
            unreachable!("nothing is read")
        }
    }

    impl AsyncWrite for Panicking {
        fn poll_write(
            self: Pin<&mut Self>,
            _: &mut Context<'_>,
            _: &[u8],
        ) -> Poll<io::Result<usize>> {
            // Unlike `panic!`, this prints no message.
            resume_unwind(Box::new(()))
        }

        fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
            Poll::Ready(Ok(()))
        }

        fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
            Poll::Ready(Ok(()))
        }
    }

    /// A part may have been sent, so the command counts as sent.
    #[test]
    fn a_write_that_panics_counts() {
        let (mut watched, gate) = Watched::new(Box::new(Panicking));
        let mut context = Context::from_waker(Waker::noop());
        let write = || Pin::new(&mut watched).poll_write(&mut context, b"a").is_ready();
        assert!(catch_unwind(AssertUnwindSafe(write)).is_err());
        assert_eq!(gate.shut(), 1);
    }

    #[test]
    fn a_failed_write_counts() {
        run(async {
            let (near, far) = tokio::io::duplex(4);
            drop(far);
            let (mut watched, gate) = Watched::new(Box::new(near));
            watched.write(b"a").await.unwrap_err();
            assert_eq!(gate.written(), 1);
        });
    }
}
