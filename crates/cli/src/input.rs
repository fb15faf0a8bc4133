//! The inputs: files in order, compressed or not; `-` is standard input.

use core::fmt;
use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Cursor, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::error::Error;
use crate::packing::{HEAD, Packing};

/// One input: its bytes, and its name in messages.
pub struct Input<'i> {
    pub(crate) name: Arc<str>,
    pub(crate) reader: Box<dyn Read + Send + 'i>,
    /// The same bytes once more, if that is possible: those of a plain file.
    pub(crate) again: Option<Opener>,
}

impl<'i> Input<'i> {
    /// Makes an input of the bytes of `reader`, called `name` in messages.
    pub fn new(name: impl Into<Arc<str>>, reader: impl Read + Send + 'i) -> Self {
        Self { name: name.into(), reader: Box::new(reader), again: None }
    }
}

impl fmt::Debug for Input<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Input").field("name", &self.name).finish_non_exhaustive()
    }
}

/// The compression that a file's extension stands for.
pub(crate) fn promised(path: &Path) -> Option<Packing> {
    match path.extension().and_then(OsStr::to_str) {
        Some("gz") => Some(Packing::Gzip),
        Some("zst") => Some(Packing::Zstandard),
        _ => None,
    }
}

/// How a file is opened.
#[derive(Clone, Debug)]
pub(crate) struct Opener {
    path: PathBuf,
    /// Whether compressed bytes are read as they are.
    raw: bool,
}

impl Opener {
    /// Opens the file and, unless `raw`, decompresses it.
    pub(crate) fn open(&self) -> io::Result<Box<dyn Read + Send>> {
        let mut file =
            if is_stdin(&self.path) { unbuffered_stdin()? } else { File::open(&self.path)? };
        if self.raw {
            return Ok(Box::new(file));
        }
        let (packing, head) = Packing::peek(&mut file)?;
        if let Packing::Foreign(foreign) = packing {
            return Err(io::Error::new(io::ErrorKind::InvalidData, foreign.refusal()));
        }
        // The bytes that `peek` has read come first.
        Ok(packing.unpack(Cursor::new(head).chain(file)))
    }
}

/// A file that is opened at its first read, so that only one of a long list of files is open at a
/// time.
struct Lazy {
    opener: Opener,
    reader: Option<Box<dyn Read + Send>>,
}

pub(crate) fn is_stdin(path: &Path) -> bool {
    path.as_os_str() == "-"
}

impl Read for Lazy {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.reader.is_none() {
            self.reader = Some(self.opener.open()?);
        }
        match &mut self.reader {
            Some(reader) => reader.read(buffer),
            None => Ok(0),
        }
    }
}

/// The inputs, and what is known of them before they are read.
pub(crate) struct Inputs {
    /// The inputs in order.
    pub(crate) list: Vec<Input<'static>>,
    /// The sum of their sizes in bytes, if all are plain files.
    pub(crate) bytes: Option<u64>,
}

/// Checks every file before the first byte is printed. Without any file, the input is standard
/// input. `raw`: compressed files are read as they are.
pub(crate) fn inputs(paths: Vec<PathBuf>, raw: bool) -> Result<Inputs, Error> {
    let paths = if paths.is_empty() { vec![PathBuf::from("-")] } else { paths };
    let mut bytes = Some(0_u64);
    let mut list = Vec::with_capacity(paths.len());
    for path in paths {
        let stdin = is_stdin(&path);
        let name = if stdin { "standard input".into() } else { shown(&path) };
        let refused = |found| Error::Input { name: name.clone(), found };
        let plain = if stdin { None } else { check(&path, raw).map_err(refused)? };
        // One input of unknown size makes the sum unknown.
        bytes = bytes.zip(plain).and_then(|(sum, one)| sum.checked_add(one));
        let is_file = !stdin && path.is_file();
        let opener = Opener { path, raw };
        let again = is_file.then(|| opener.clone());
        list.push(Input { again, ..Input::new(name, Lazy { opener, reader: None }) });
    }
    Ok(Inputs { list, bytes })
}

/// Returns a file's name for messages, with control characters escaped: on one line, and without
/// terminal commands.
pub(crate) fn shown(path: &Path) -> String {
    let mut name = String::new();
    for c in path.display().to_string().chars() {
        if c.is_control() { name.extend(c.escape_default()) } else { name.push(c) }
    }
    name
}

/// Checks what can be checked of a file from its metadata and its first bytes. Returns its length
/// if it is a plain file.
fn check(path: &Path, raw: bool) -> Result<Option<u64>, String> {
    let found = path.metadata().map_err(|error| error.to_string())?;
    if found.is_dir() {
        return Err("is a directory; expected a file".into());
    }
    #[cfg(unix)]
    if std::os::unix::fs::FileTypeExt::is_socket(&found.file_type()) {
        return Err("is a socket; expected a file".into());
    }
    // A pipe is not opened: its writer would notice that a reader came and went.
    if !found.is_file() {
        return Ok(None);
    }
    let file = File::open(path).map_err(|error| error.to_string())?;
    if raw {
        return Ok(Some(found.len()));
    }
    let head = first_bytes(file).map_err(|error| error.to_string())?;
    let packing = Packing::peek(&mut head.as_slice()).map_err(|error| error.to_string())?.0;
    // The first bytes decide; a name that promises a compression must not be of plain data.
    match (packing, promised(path)) {
        (Packing::Foreign(foreign), _) => Err(foreign.refusal().to_string()),
        (Packing::Plain, Some(promised)) => Err(format!(
            "has the extension of a {} file, but is not one; --no-decompress reads it as it is",
            if promised == Packing::Gzip { "gzip" } else { "Zstandard" }
        )),
        (Packing::Plain, None) => Ok(Some(found.len())),
        _ => Ok(None),
    }
}

/// Returns the first bytes that would be read. If the name stands for a file that is already open,
/// such as `/dev/stdin`, its position is not moved.
fn first_bytes(mut file: File) -> io::Result<Vec<u8>> {
    #[cfg(unix)]
    {
        use std::io::Seek;
        use std::os::unix::fs::FileExt;
        let mut head = [0; HEAD];
        let place = file.stream_position()?;
        let length = file.read_at(&mut head, place)?;
        Ok(head[..length].to_vec())
    }
    #[cfg(windows)]
    {
        let mut head = Vec::new();
        file.by_ref().take(HEAD as u64).read_to_end(&mut head)?;
        Ok(head)
    }
}

/// Returns standard input without std's buffer, which would copy every byte once more.
pub(crate) fn unbuffered_stdin() -> io::Result<File> {
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

/// Returns standard output without std's line buffer: whole chunks are written at once.
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
