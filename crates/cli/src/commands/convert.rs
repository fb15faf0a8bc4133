//! `tamis convert`: reads a filter in one format and saves it in another.

use std::fs::File;
use std::io::{self, ErrorKind, Read, Write};
use std::path::Path;

use tamis::formats::{self, Info, LoadError, SaveError};
use tempfile::NamedTempFile;

use super::report::Report;
use crate::args::{ConvertArgs, Format};
use crate::filters::{AnyFilter, Header};
use crate::input::{unbuffered_stdin, unbuffered_stdout};
use crate::{Error, output};

/// The bytes of a header, from which the length of the file follows.
const HEADER: u64 = 256;

/// Runs `tamis convert`.
pub(crate) fn convert(args: &ConvertArgs) -> Result<(), Error> {
    let onto_stdout = !output::is_file(Some(&args.output));
    if !onto_stdout {
        output::check(&args.output)?;
    }
    let (filter, policy) = match args.from {
        Format::Tamis => load(args)?,
    };
    match args.to {
        Format::Tamis if onto_stdout => print(&filter, policy)?,
        Format::Tamis => filter.save(&args.output, policy)?,
    }

    let name = if onto_stdout { Path::new("standard output") } else { &args.output };
    let mut report = Report::new();
    report.text = "1 filter converted".into();
    report.describe(filter.figures(), name);
    report.show_text(args.quiet);
    Ok(())
}

/// Loads a filter in the format of this program, with all checks.
fn load(args: &ConvertArgs) -> Result<(AnyFilter, formats::Policy), Error> {
    let copy = if args.filter.as_os_str() == "-" { Some(copy_of_stdin()?) } else { None };
    let header = match &copy {
        Some(copy) => Header::open_as(copy.path(), STDIN.into())?,
        None => Header::open(&args.filter)?,
    };
    header.require_other(&args.output)?;
    Ok((AnyFilter::load(&header)?, header.info.policy()))
}

/// The name of standard input in messages.
const STDIN: &str = "standard input";

/// Copies a filter from standard input to a temporary file: a table is loaded from a file only. A wrong header is found
/// before anything is copied, and no more is copied than the filter can have.
fn copy_of_stdin() -> Result<NamedTempFile, Error> {
    let copy = || -> Result<NamedTempFile, LoadError> {
        let input = unbuffered_stdin()?;
        let mut head = Vec::new();
        (&input).take(HEADER).read_to_end(&mut head)?;
        let len = Info::read(&head[..])?.file_len();
        let mut file = NamedTempFile::new()?;
        file.write_all(&head)?;
        // One byte more, so that a longer input is an error.
        io::copy(&mut input.take(len - HEADER + 1), &mut file)?;
        Ok(file)
    };
    copy().map_err(|source| Error::Load { name: STDIN.into(), source })
}

/// Writes a filter to standard output, from a temporary file: only a complete one is printed.
fn print(filter: &AnyFilter, policy: formats::Policy) -> Result<(), Error> {
    let unsaved = |error| {
        let name = "a temporary file".into();
        Error::Save { name, source: SaveError::Io(error) }
    };
    let folder = tempfile::tempdir().map_err(unsaved)?;
    let path = folder.path().join("filter.tamis");
    filter.save(&path, policy)?;
    let mut file = File::open(&path).map_err(unsaved)?;
    let mut output = unbuffered_stdout().map_err(Error::Write)?;
    match io::copy(&mut file, &mut output) {
        Ok(_) => Ok(()),
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Err(Error::Closed),
        Err(error) => Err(Error::Write(error)),
    }
}
