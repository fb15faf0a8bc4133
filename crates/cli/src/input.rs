//! The inputs: files in order, compressed ones by their ending, `-` for standard input.

use std::ffi::OsStr;
use std::fs::{File, Metadata};
use std::io::{self, BufReader, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use flate2::read::MultiGzDecoder;

use crate::Error;
use crate::zst::Frames;

/// One input: bytes, and the name by which messages call them.
#[derive(Debug)]
pub struct Input<R> {
    pub(crate) name: Arc<str>,
    pub(crate) reader: R,
}

impl<R: Read> Input<R> {
    /// The bytes of `reader`, called `name` in messages.
    pub fn new(name: impl Into<Arc<str>>, reader: R) -> Self {
        Self { name: name.into(), reader }
    }
}

/// How the bytes of a file are stored, told by the end of its name.
#[derive(Clone, Copy, Debug)]
enum Packing {
    Plain,
    Gzip,
    Zstandard,
}

impl Packing {
    fn of(path: &Path) -> Self {
        match path.extension().and_then(OsStr::to_str) {
            Some("gz") => Self::Gzip,
            Some("zst") => Self::Zstandard,
            _ => Self::Plain,
        }
    }

    /// What is wrong with the first bytes of a file of this packing.
    fn refuses(self, head: &[u8]) -> Option<&'static str> {
        match (self, head) {
            (Self::Gzip, [0x1f, 0x8b, ..]) => None,
            (Self::Gzip, _) => Some("the name ends in .gz but this is no gzip file"),
            // A data frame, or one to skip.
            (Self::Zstandard, [0x28, 0xb5, 0x2f, 0xfd] | [0x50..=0x5f, 0x2a, 0x4d, 0x18]) => None,
            (Self::Zstandard, _) => Some("the name ends in .zst but this is no Zstandard file"),
            (Self::Plain, _) => None,
        }
    }
}

/// A file that is opened at its first read, so that a long list of files holds one open at a time.
pub(crate) struct Lazy {
    path: PathBuf,
    reader: Option<Box<dyn Read + Send>>,
}

impl Lazy {
    fn open(&self) -> io::Result<Box<dyn Read + Send>> {
        if self.path.as_os_str() == "-" {
            return Ok(Box::new(unbuffered_stdin()?));
        }
        let file = File::open(&self.path)?;
        Ok(match Packing::of(&self.path) {
            Packing::Plain => Box::new(file),
            Packing::Gzip => Box::new(MultiGzDecoder::new(file)),
            Packing::Zstandard => Box::new(Frames::new(BufReader::new(file))),
        })
    }
}

impl Read for Lazy {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.reader.is_none() {
            self.reader = Some(self.open()?);
        }
        match &mut self.reader {
            Some(reader) => reader.read(buffer),
            None => Ok(0),
        }
    }
}

/// What is known of the inputs before they are read.
pub(crate) struct Inputs {
    /// The inputs in order.
    pub(crate) list: Vec<Input<Lazy>>,
    /// Their bytes altogether, if all are plain files.
    pub(crate) bytes: Option<u64>,
}

/// Looks at every file before the first byte is printed; no file at all means standard input.
pub(crate) fn inputs(paths: Vec<PathBuf>) -> Result<Inputs, Error> {
    let paths = if paths.is_empty() { vec![PathBuf::from("-")] } else { paths };
    let mut bytes = Some(0_u64);
    let mut list = Vec::with_capacity(paths.len());
    for path in paths {
        let stdin = path.as_os_str() == "-";
        let name = if stdin { "standard input".into() } else { shown(&path) };
        let plain = if stdin {
            None
        } else {
            let found = check(&path).map_err(|found| Error::Input { name: name.clone(), found })?;
            matches!(Packing::of(&path), Packing::Plain)
                .then_some(found)
                .filter(Metadata::is_file)
                .map(|found| found.len())
        };
        bytes = bytes.zip(plain).and_then(|(sum, one)| sum.checked_add(one));
        list.push(Input::new(name, Lazy { path, reader: None }));
    }
    Ok(Inputs { list, bytes })
}

/// A file's name for messages: on one line, and nothing that a terminal would obey.
fn shown(path: &Path) -> String {
    let mut name = String::new();
    for c in path.display().to_string().chars() {
        if c.is_control() { name.extend(c.escape_default()) } else { name.push(c) }
    }
    name
}

/// Finds what can be found wrong with a file without reading it. A pipe is not opened: its writer
/// would see us come and go.
fn check(path: &Path) -> Result<Metadata, String> {
    let found = path.metadata().map_err(|error| error.to_string())?;
    if found.is_dir() {
        return Err("is a directory; expected a file".into());
    }
    if found.is_file() {
        let file = File::open(path).map_err(|error| error.to_string())?;
        let packing = Packing::of(path);
        // Only then: where a name stands for an open file, reading would move its place.
        if !matches!(packing, Packing::Plain) {
            let mut head = Vec::new();
            file.take(4).read_to_end(&mut head).map_err(|error| error.to_string())?;
            if let Some(wrong) = packing.refuses(&head) {
                return Err(wrong.into());
            }
        }
    }
    Ok(found)
}

/// Standard input without std's buffer, which would cost a copy of every byte.
fn unbuffered_stdin() -> io::Result<File> {
    #[cfg(unix)]
    {
        use std::os::fd::AsFd;
        io::stdin().as_fd().try_clone_to_owned().map(File::from)
    }
    #[cfg(windows)]
    {
        use std::os::windows::io::AsHandle;
        io::stdin().as_handle().try_clone_to_owned().map(File::from)
    }
}

/// Standard output without std's line buffer: whole chunks are written at once.
pub(crate) fn unbuffered_stdout() -> io::Result<File> {
    #[cfg(unix)]
    {
        use std::os::fd::AsFd;
        io::stdout().as_fd().try_clone_to_owned().map(File::from)
    }
    #[cfg(windows)]
    {
        use std::os::windows::io::AsHandle;
        io::stdout().as_handle().try_clone_to_owned().map(File::from)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_shown_on_one_line() {
        assert_eq!(shown(Path::new("a\nb\u{1b}[31m é.txt")), "a\\nb\\u{1b}[31m é.txt");
    }
}
