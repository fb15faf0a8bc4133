//! A file that the system writes to the disk while it still grows.
//!
//! The system keeps written bytes in memory until a sync. A sync at the end only then begins to use
//! the disk: the time of the disk is added to the time in which the bytes are computed. So a thread
//! syncs the first bytes while later ones are written.

use std::fs::File;
use std::io::{self, Seek, SeekFrom, Write};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread;

use crate::save_error::SaveError;

/// Bytes between two syncs. A file of less than two such steps needs no thread.
///
/// MEASURED: a save of 1 GiB runs at 1.01 to 1.25 of the speed of a plain write with a sync at the
/// end, and at 0.72 to 0.75 without early syncs (ext4, Zen 5).
const STEP: u64 = 64 << 20;

/// A file, and the thread that syncs it.
pub(crate) struct EarlySync<'f> {
    file: &'f File,
    /// The bytes written since the last sync was asked for.
    since: u64,
    ask: Option<SyncSender<()>>,
}

/// Calls `write` with a file of about this length, which is synced from time to time meanwhile. The
/// last sync is left to the caller.
///
/// The function is not generic: a program that saves many types has it once.
pub(crate) fn with_early_sync(
    file: &File,
    len: u64,
    write: &mut dyn FnMut(&mut EarlySync<'_>) -> Result<(), SaveError>,
) -> Result<(), SaveError> {
    if len < 2 * STEP {
        return write(&mut EarlySync { file, since: 0, ask: None });
    }
    thread::scope(|scope| {
        let (ask, asked) = sync_channel(1);
        let sync = move || asked.iter().try_for_each(|()| file.sync_data());
        // Without a thread the last sync does all.
        let thread = thread::Builder::new().spawn_scoped(scope, sync);
        let ask = thread.is_ok().then_some(ask);
        let written = write(&mut EarlySync { file, since: 0, ask });
        // The system reports an error of the disk to one sync only, so the save must fail with this
        // one.
        let synced = thread.map_or(Ok(()), |thread| match thread.join() {
            Ok(synced) => synced,
            Err(_) => Err(io::Error::other("the thread that syncs the file panicked")),
        });
        written?;
        Ok(synced?)
    })
}

impl Write for EarlySync<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.file.write(bytes)?;
        self.since += written as u64;
        if let Some(ask) = self.ask.as_ref().filter(|_| self.since >= STEP) {
            // If the last sync has not ended, the next one includes these bytes. If it failed, the
            // save fails at its end.
            let _ = ask.try_send(());
            self.since = 0;
        }
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Seek for EarlySync<'_> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.file.seek(to)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::*;

    /// The bytes are those of a plain file, with a thread and without, also after an error.
    #[test]
    fn all_bytes_are_written() {
        for len in [0, 2 * STEP] {
            let mut file = tempfile::tempfile().unwrap();
            let result = with_early_sync(&file, len, &mut |file| {
                // No real file of this length: the next write asks for a sync.
                file.since = STEP - 1;
                file.write_all(b"abc")?;
                file.seek(SeekFrom::Start(1))?;
                Ok(file.write_all(b"x")?)
            });
            assert!(result.is_ok());
            let (mut bytes, file) = (Vec::new(), &mut file);
            file.seek(SeekFrom::Start(0)).unwrap();
            file.read_to_end(&mut bytes).unwrap();
            assert_eq!(bytes, b"axc");
            let result = with_early_sync(file, len, &mut |_| Err(SaveError::NotAFile));
            assert!(matches!(result, Err(SaveError::NotAFile)));
        }
    }

    /// A pipe cannot be synced.
    #[cfg(target_os = "linux")]
    #[test]
    fn an_error_of_an_early_sync_is_returned() {
        let (_reader, writer) = io::pipe().unwrap();
        let file = File::from(std::os::fd::OwnedFd::from(writer));
        let result = with_early_sync(&file, 2 * STEP, &mut |file| {
            file.since = STEP;
            Ok(file.write_all(b"x")?)
        });
        assert!(matches!(result, Err(SaveError::Io(_))), "{result:?}");
    }
}
