//! `tamis convert`: reads a filter in one format and saves it in another.

use std::fs::File;
use std::io::{self, ErrorKind, Read, Write};
use std::path::Path;

use tamis::formats::{Info, LoadError, SaveError};

use super::report::Report;
use crate::args::{ConvertArgs, Format};
use crate::error::Error;
use crate::filters::{AnyFilter, Header, Lock};
use crate::foreign::{Foreign, Opened, read_stdin};
use crate::input::{is_stdin, shown, unbuffered_stdin, unbuffered_stdout};
use crate::output::{self, Roles, Unnamed};
use crate::scratch::Scratch;

/// The bytes of a header, from which the length of the file follows.
const HEADER: u64 = 256;

/// Runs `tamis convert`.
pub(crate) fn convert(args: &ConvertArgs) -> Result<(), Error> {
    let _lock = args.lock()?;
    // A filter of this program is loaded from a file only.
    let copy = match args.from.from {
        Format::Tamis if args.is_stdin() => Some(copy_of_stdin()?),
        _ => None,
    };
    let copy = copy.as_ref().map(|folder| folder.path().join(COPY));
    match args.open(copy.as_deref())? {
        Opened::Ours(header) => {
            args.require_tamis(&header)?;
            let filter = AnyFilter::load(&header)?;
            let policy = header.info.normalization();
            args.save(|path| filter.prepare(path, policy))?;
            args.report(|report, name| report.describe(&filter.described(), name));
        }
        Opened::Theirs(filter) => {
            let filter = args.converted(filter)?;
            args.save(|path| filter.prepare(path))?;
            args.report(|report, name| report.describe_foreign(&filter, name));
        }
    }
    Ok(())
}

impl ConvertArgs {
    fn is_stdin(&self) -> bool {
        is_stdin(&self.filter)
    }

    /// Checks the output, and returns its lock if it is a file.
    fn lock(&self) -> Result<Option<Lock>, Error> {
        let roles = Roles::default().and_filter(&self.filter);
        if !output::is_file(Some(&self.output)) {
            roles.print_to(None)?;
            return Ok(None);
        }
        roles.save_to(&self.output, "filter")?;
        output::check(&self.output)?;
        Lock::take(&self.output, self.quiet).map(Some)
    }

    /// Opens the filter. `copy`: a copy of standard input, if that is a filter of this program.
    fn open<'p>(&'p self, copy: Option<&'p Path>) -> Result<Opened<'p>, Error> {
        match (self.from.from, copy) {
            (_, Some(copy)) => {
                let header = Header::open_as(copy, STDIN.into())?;
                Opened::of_header(header, self.from.column.as_deref())
            }
            (Format::Foreign(named), None) if self.is_stdin() => {
                let bytes = read_stdin(STDIN)?;
                let column = self.from.column.as_deref();
                Foreign::parse(&bytes, named, column, STDIN.into()).map(Opened::Theirs)
            }
            _ => Opened::open(&self.filter, &self.from),
        }
    }

    /// Returns an error if a filter of this program is to become one of another system.
    fn require_tamis(&self, header: &Header<'_>) -> Result<(), Error> {
        let Format::Foreign(named) = self.to else { return Ok(()) };
        let (kind, name) = (header.info.kind(), named.name());
        Err(header.refused(format!(
            "is a {kind}, and {name} hashes keys differently; build one from the records: tamis build --to {name} \
             --capacity N -o NEW FILE..."
        )))
    }

    /// Converts a filter of another system.
    fn converted(&self, filter: Foreign) -> Result<Foreign, Error> {
        let Format::Foreign(named) = self.to else { return Ok(filter.wrap()) };
        // A name of several formats takes what the filter is.
        let own = filter.filter.format();
        let to = if named.formats.contains(&own) { own } else { named.built() };
        filter.convert(to, &self.filter)
    }

    /// Saves the new filter under its name, or writes it to standard output, from a temporary file:
    /// only a complete one is printed.
    fn save(&self, prepare: impl Fn(&Path) -> Result<Unnamed, Error>) -> Result<(), Error> {
        if output::is_file(Some(&self.output)) {
            return prepare(&self.output)?.commit();
        }
        let folder = Scratch::new().map_err(unsaved)?;
        let path = folder.path().join("filter");
        let prepared = prepare(&path).and_then(Unnamed::rename);
        prepared.map_err(|error| match error {
            Error::Save { source: SaveError::Io(source), .. } => unsaved(source),
            error => error,
        })?;
        let mut file = File::open(&path).map_err(unsaved)?;
        let mut output = unbuffered_stdout().map_err(Error::Write)?;
        match io::copy(&mut file, &mut output) {
            Ok(_) => Ok(()),
            Err(error) if error.kind() == ErrorKind::BrokenPipe => Err(Error::Closed),
            Err(error) => Err(Error::Write(error)),
        }
    }

    /// Prints the summary. `describe` adds the description of the new filter, of this name.
    fn report(&self, describe: impl FnOnce(&mut Report, &Path)) {
        let onto_file = output::is_file(Some(&self.output));
        let name = if onto_file { &self.output } else { Path::new("standard output") };
        let mut report = Report::new();
        report.text = "1 filter converted".into();
        describe(&mut report, name);
        report.show_text(self.quiet);
    }
}

/// The name of standard input in messages.
const STDIN: &str = "standard input";

/// The name of its copy in a temporary directory.
const COPY: &str = "copy";

/// Copies a filter from standard input to a file in a temporary directory: a table is loaded from a
/// file only. A wrong header is found before anything is copied, and no more is copied than the
/// filter can have.
fn copy_of_stdin() -> Result<Scratch, Error> {
    let unread = |source| Error::Load { name: STDIN.into(), source };
    let failed = |error| unread(LoadError::Io(error));
    let mut input = unbuffered_stdin().map_err(failed)?;
    let mut head = Vec::new();
    (&input).take(HEADER).read_to_end(&mut head).map_err(failed)?;
    let len = Info::read(&head[..]).map_err(unread)?.file_len();
    let folder = Scratch::new().map_err(unsaved)?;
    let mut file = File::create(folder.path().join(COPY)).map_err(unsaved)?;
    file.write_all(&head).map_err(unsaved)?;
    // One byte more, so that a longer input is an error.
    let mut left = len - HEADER + 1;
    let mut buffer = vec![0; 1 << 16];
    while left > 0 {
        let most = buffer.len().min(usize::try_from(left).unwrap_or(usize::MAX));
        match input.read(&mut buffer[..most]) {
            Ok(0) => break,
            Ok(count) => {
                file.write_all(&buffer[..count]).map_err(unsaved)?;
                left -= count as u64;
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(failed(error)),
        }
    }
    Ok(folder)
}

/// The error of a temporary file: standard input and the output have no part in it.
fn unsaved(error: io::Error) -> Error {
    let folder = std::env::temp_dir();
    let name = format!("a temporary file in {}", shown(&folder));
    Error::Save { name, source: SaveError::Io(error) }
}
