//! What `tamis new` does before it reads the first record.

use std::fs::File;
use std::path::PathBuf;

use crate::args::NewArgs;
use crate::error::Error;
use crate::filters::Lock;
use crate::input::{self, Input, Inputs};
use crate::screen::Screen;
use crate::{memory, output};

/// What a run has before it reads the first record.
pub(super) struct Prepared<F> {
    /// Other runs wait while this is held.
    pub(super) lock: Lock,
    pub(super) filter: F,
    pub(super) inputs: Vec<Input<'static>>,
    /// Where the records go.
    pub(super) file: File,
    pub(super) screen: Screen,
}

/// Opens the inputs, waits for the lock, reads the filter while it is held, and opens the output.
pub(super) fn prepare<F>(
    args: &NewArgs,
    files: Vec<PathBuf>,
    read: impl FnOnce() -> Result<F, Error>,
) -> Result<Prepared<F>, Error> {
    let NewArgs { filter: path, records, .. } = args;
    let Inputs { list: inputs, bytes } = input::inputs(files, records.no_decompress)?;
    // Another run may have to end first, and the filter is another one then.
    let lock = Lock::take(path, records.quiet)?;
    let filter = read()?;
    let (file, pending) = output::open(args.output.as_deref())?;

    // The thread that saves.
    memory::check_run(1)?;
    let screen = Screen::new(records.quiet, records.progress, bytes, pending);
    Ok(Prepared { lock, filter, inputs, file, screen })
}
