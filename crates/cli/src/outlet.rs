//! The output of `tamis new`: how much of it its reader has taken.
//!
//! What is written to a pipe is in a buffer of the system until somebody reads it. A reader that
//! ends before it has read all takes the rest with it, and no error says so. So the output is asked
//! what is still unread before anything is saved. What a reader has taken but not handled is not
//! seen here.

use core::time::Duration;
use std::fs::File;
use std::io::{self, IsTerminal, Write};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Instant;

use crate::error::Error;

/// The most that is written at once, where it is not known how much there is room for. A write may
/// end only when a slow reader has taken all of it, and meanwhile it cannot be seen that bytes are
/// taken.
const PIECE: usize = 1 << 16;

/// The same for a terminal, and for a pipe that is full.
const SMALL_PIECE: usize = 1 << 12;

/// The longest time between two looks at the output.
const LOOK: Duration = Duration::from_millis(10);

/// An output, and what is known of its reader.
pub(crate) struct Outlet<'f> {
    file: &'f File,
    kind: Kind,
    written: Mutex<Written>,
}

/// What was written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Written {
    bytes: u64,
    /// Whether more is being written, and may wait for the reader.
    is_more: bool,
}

/// What an output is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(not(target_os = "linux"), allow(dead_code, reason = "only Linux has all of them"))]
enum Kind {
    /// A regular file: it has what was written.
    File,
    /// A pipe with room for this many bytes.
    Pipe(usize),
    /// A socket that knows how much its peer has taken.
    Socket,
    Terminal,
    /// Another device; a socket that does not know; and, on systems other than Linux, any pipe or
    /// socket. What was written counts as taken.
    Other,
}

/// What the reader has done with what was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Taken {
    /// It has taken all.
    All,
    /// It has not taken all yet.
    Part,
    /// It has closed the output before it has taken all.
    Never,
}

impl<'f> Outlet<'f> {
    pub(crate) fn new(file: &'f File) -> Self {
        let is_file = file.metadata().is_ok_and(|found| found.is_file());
        let kind = match system::kind(file) {
            _ if is_file => Kind::File,
            Some(kind) => kind,
            None if file.is_terminal() => Kind::Terminal,
            None => Kind::Other,
        };
        Self { file, kind, written: Mutex::default() }
    }

    /// Whether a write may wait for somebody who reads.
    pub(crate) fn has_reader(&self) -> bool {
        self.kind != Kind::File
    }

    /// Brings what was printed to the disk, if it goes to a file: a filter must not say that more
    /// was printed than is there.
    pub(crate) fn flushed(&self) -> Result<(), Error> {
        if self.kind == Kind::File { self.file.sync_all().map_err(Error::Write) } else { Ok(()) }
    }

    /// Returns what the reader has done.
    pub(crate) fn taken(&self) -> Taken {
        let unread = || system::unread(self.file, self.kind);
        match (unread(), system::is_closed(self.file, self.kind)) {
            // A pipe keeps what nobody reads. The peer may have taken the rest before it closed the
            // pipe.
            (_, true) if matches!(self.kind, Kind::Pipe(_)) && unread() == 0 => Taken::All,
            // A socket drops it, after it has noted the error.
            (_, true) => Taken::Never,
            (0, false) => Taken::All,
            (_, false) => Taken::Part,
        }
    }

    /// Waits until the reader has taken all, or has closed the output; or until `patience` ends,
    /// which is called with the time since something was taken. Returns the last state.
    pub(crate) fn wait(&self, mut patience: impl FnMut(Duration) -> bool) -> Taken {
        let mut still = Still::new(self);
        // The usual reader needs less than the first pause.
        let mut pause = Duration::from_micros(50);
        loop {
            let taken = self.taken();
            if taken != Taken::Part || !patience(still.time()) {
                return taken;
            }
            thread::sleep(pause);
            pause = LOOK.min(pause * 2);
        }
    }

    /// How many bytes the next write may have.
    fn room(&self) -> usize {
        match self.kind {
            Kind::File => usize::MAX,
            Kind::Pipe(size) => {
                let unread = system::unread(self.file, self.kind);
                size.saturating_sub(unread as usize).max(SMALL_PIECE)
            }
            Kind::Terminal => SMALL_PIECE,
            Kind::Socket | Kind::Other => PIECE,
        }
    }

    fn written(&self) -> MutexGuard<'_, Written> {
        self.written.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Write for &Outlet<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let piece = bytes.len().min(self.room());
        let mut file = self.file;
        self.written().is_more = true;
        let written = file.write(&bytes[..piece]);
        let mut state = self.written();
        state.is_more = false;
        state.bytes += *written.as_ref().unwrap_or(&0) as u64;
        written
    }

    fn flush(&mut self) -> io::Result<()> {
        let mut file = self.file;
        file.flush()
    }
}

/// The time for which the reader of an output has taken nothing, although there is something to
/// take.
pub(crate) struct Still<'o> {
    outlet: &'o Outlet<'o>,
    /// What was written, and the bytes unread.
    seen: (Written, u64),
    since: Instant,
}

impl<'o> Still<'o> {
    pub(crate) fn new(outlet: &'o Outlet<'o>) -> Self {
        Self { outlet, seen: (Written::default(), 0), since: Instant::now() }
    }

    /// Returns the time since the first call for which this is so.
    pub(crate) fn time(&mut self) -> Duration {
        let Outlet { file, kind, .. } = *self.outlet;
        let seen = (*self.outlet.written(), system::unread(file, kind));
        let is_idle = !seen.0.is_more && seen.1 == 0;
        if is_idle || seen != self.seen {
            self.seen = seen;
            self.since = Instant::now();
        }
        self.since.elapsed()
    }
}

#[cfg(target_os = "linux")]
mod system {
    //! What Linux knows of the reader of an output.

    use std::fs::File;
    use std::os::unix::fs::FileTypeExt;

    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    use rustix::io::ioctl_fionread;
    use rustix::pipe::fcntl_getpipe_size;
    use tamis_sync::unsent;

    use super::Kind;

    /// Returns what the output is, if that is something with a reader that can be watched.
    pub(super) fn kind(file: &File) -> Option<Kind> {
        let found = file.metadata().ok()?.file_type();
        if found.is_fifo() {
            ioctl_fionread(file).ok()?;
            return fcntl_getpipe_size(file).ok().map(Kind::Pipe);
        }
        if found.is_socket() { unsent(file).ok().map(|_| Kind::Socket) } else { None }
    }

    /// The bytes that nobody has read; for a socket with what the system needs for them.
    pub(super) fn unread(file: &File, kind: Kind) -> u64 {
        let unread = match kind {
            Kind::Pipe(_) => ioctl_fionread(file).map_err(Into::into),
            Kind::Socket => unsent(file),
            _ => Ok(0),
        };
        // It was possible when the kind was found, and an open file does not change its kind.
        unread.unwrap_or(0)
    }

    /// Whether there is nobody who could read the output.
    pub(super) fn is_closed(file: &File, kind: Kind) -> bool {
        if !matches!(kind, Kind::Pipe(_) | Kind::Socket) {
            return false;
        }
        let mut files = [PollFd::new(file, PollFlags::empty())];
        let polled = poll(&mut files, Some(&Timespec::default()));
        polled.is_ok() && files[0].revents().contains(PollFlags::ERR)
    }
}

#[cfg(not(target_os = "linux"))]
mod system {
    //! Other systems do not say at the writing end how much is unread.

    use std::fs::File;

    use super::Kind;

    pub(super) fn kind(_file: &File) -> Option<Kind> {
        None
    }

    pub(super) fn unread(_file: &File, _kind: Kind) -> u64 {
        0
    }

    pub(super) fn is_closed(_file: &File, _kind: Kind) -> bool {
        false
    }
}
