//! The log of a process: its records, and what they say after a kill. README.md has the format.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::path::Path;

use crate::failure::{Failure, at};
use crate::urls::MAX_BYTES;

/// A page that is done. `status` is that of HTTP, or one of [`FAILED`] and [`FORBIDDEN`].
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Done {
    pub(crate) url: String,
    pub(crate) status: u16,
    pub(crate) size: u64,
}

/// The status of a page that could not be fetched.
pub(crate) const FAILED: u16 = 0;
/// The status of a page that robots.txt forbids.
pub(crate) const FORBIDDEN: u16 = 1;

/// What a log says about the crawl so far.
#[derive(Debug, Default)]
pub(crate) struct Past {
    /// The identity of the crawl, empty in a new log.
    pub(crate) identity: String,
    /// The URLs that this process has won, and whether they are done.
    pub(crate) won: HashMap<String, bool>,
    /// The URLs of an intent without a verdict, without those that were won before.
    pub(crate) open: Vec<String>,
    /// The bytes of a record that a kill has cut.
    pub(crate) cut: u64,
}

/// A log that is open for writing, and locked.
#[derive(Debug)]
pub(crate) struct Log {
    file: File,
    buffer: Vec<u8>,
    /// The length of the file.
    pub(crate) bytes: u64,
    fsync: bool,
}

impl Log {
    /// Opens or creates the log in a directory, and reads it.
    pub(crate) fn open(directory: &Path, fsync: bool) -> Result<(Self, Past), Failure> {
        let path = directory.join("log");
        let created = fs::create_dir_all(directory);
        let open = || File::options().read(true).append(true).create(true).open(&path);
        let file = created.and_then(|()| open()).map_err(|error| at(&path, &error))?;
        file.try_lock().map_err(|_| at(directory, &"another process uses it"))?;
        let (mut past, whole) = Past::read(BufReader::new(&file))?;
        past.cut = file.metadata()?.len() - whole;
        // A file of another program is not touched.
        if whole == 0 && past.cut > 100 {
            return Err(at(&path, &"not the log of a crawler"));
        }
        file.set_len(whole)?;
        let mut log = Self { file, buffer: Vec::new(), bytes: whole, fsync };
        if past.identity.is_empty() {
            past.identity = format!("{:08x}", getrandom::u32()?);
            log.record(&format!("tamis-crawler 1 {}", past.identity));
            log.write()?;
            if fsync {
                // The name of a new file is in its directory.
                File::open(directory)?.sync_all()?;
            }
        }
        Ok((log, past))
    }

    /// Adds an intent to claim URLs.
    pub(crate) fn intend(&mut self, urls: &[&str]) {
        self.record(&format!("? {}", urls.join(" ")));
    }

    /// Adds the verdict on the URLs of the last intent.
    pub(crate) fn decide(&mut self, won: &[bool]) {
        let digits: String = won.iter().map(|won| if *won { '1' } else { '0' }).collect();
        self.record(&format!("! {digits}"));
    }

    /// Adds a page that is done.
    pub(crate) fn finish(&mut self, Done { url, status, size }: &Done) {
        self.record(&format!(". {status} {size} {url}"));
    }

    fn record(&mut self, text: &str) {
        let sum = crc32fast::hash(text.as_bytes());
        // Writing to memory does not fail.
        _ = writeln!(self.buffer, "{sum:08x} {text}");
    }

    /// Writes what was added. From then on it survives a kill, and with `fsync` a power loss.
    pub(crate) fn write(&mut self) -> Result<(), Failure> {
        let written = self.file.write_all(&self.buffer);
        self.bytes += self.buffer.len() as u64;
        self.buffer.clear();
        let kept = written.and_then(|()| if self.fsync { self.file.sync_data() } else { Ok(()) });
        kept.map_err(|error| format!("the log: {error}").into())
    }
}

impl Past {
    /// Reads records up to the first that is not whole. Returns also where it begins.
    fn read(mut from: impl BufRead) -> io::Result<(Self, u64)> {
        let (mut past, mut line, mut whole) = (Self::default(), Vec::new(), 0);
        loop {
            line.clear();
            from.read_until(b'\n', &mut line)?;
            if text(&line).and_then(|text| past.take(text)).is_none() {
                past.open.retain(|url| !past.won.contains_key(url));
                return Ok((past, whole));
            }
            whole += line.len() as u64;
        }
    }

    /// Applies a record. Returns `None` if it is none.
    fn take(&mut self, text: &str) -> Option<()> {
        let (kind, rest) = text.split_once(' ')?;
        match kind {
            "tamis-crawler" => self.identity = rest.strip_prefix("1 ")?.to_owned(),
            _ if self.identity.is_empty() => return None,
            "?" => self.open = rest.split(' ').map(str::to_owned).collect(),
            "!" if rest.len() == self.open.len() => {
                let urls = self.open.drain(..).zip(rest.bytes());
                let won = urls.filter(|(_, digit)| *digit == b'1');
                won.for_each(|(url, _)| _ = self.won.entry(url).or_insert(false));
            }
            "." => {
                let (_, url) = rest.split_once(' ')?.1.split_once(' ')?;
                self.won.insert(url.to_owned(), true);
            }
            _ => return None,
        }
        Some(())
    }
}

/// Returns the text of a line, if its checksum is right and it has its end.
fn text(line: &[u8]) -> Option<&str> {
    let (sum, text) = str::from_utf8(line.strip_suffix(b"\n")?).ok()?.split_once(' ')?;
    (u32::from_str_radix(sum, 16).ok()? == crc32fast::hash(text.as_bytes())).then_some(text)
}

/// Opens a file of lines for appending, and removes a last line that was cut.
pub(crate) fn append(path: &Path) -> Result<File, Failure> {
    let open = || File::options().read(true).append(true).create(true).open(path);
    let mut file = open().map_err(|error| at(path, &error))?;
    // A device and a pipe have no length. A line is not longer than two URLs.
    let (len, mut tail) = (file.metadata()?.len(), Vec::new());
    if len > 0 {
        file.seek(SeekFrom::Start(len.saturating_sub(2 * MAX_BYTES as u64)))?;
        file.read_to_end(&mut tail)?;
        let cut = tail.iter().rev().take_while(|byte| **byte != b'\n').count();
        file.set_len(len - cut as u64)?;
    }
    Ok(file)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    /// Writes a log, and returns what must hold once each prefix was read: the records end at the
    /// lengths, and each step is one record.
    fn example(directory: &Path) -> Vec<u64> {
        let (mut log, past) = Log::open(directory, false).unwrap();
        assert_eq!((past.identity.len(), past.cut), (8, 0));
        let mut ends = vec![log.bytes];
        let done = |url: &str| Done { url: url.to_owned(), status: 200, size: 7 };
        let steps: [&dyn Fn(&mut Log); 7] = [
            &|log| log.intend(&["a", "b", "c"]),
            &|log| log.decide(&[true, false, true]),
            &|log| log.finish(&done("a")),
            &|log| log.intend(&["d", "a"]),
            &|log| log.decide(&[true, false]),
            &|log| log.finish(&done("c")),
            &|log| log.intend(&["e", "d"]),
        ];
        for step in steps {
            step(&mut log);
            log.write().unwrap();
            ends.push(log.bytes);
        }
        ends
    }

    /// The state after each number of whole records: won and not done, done, open.
    const STATES: [[&[&str]; 3]; 9] = [
        [&[], &[], &[]],
        [&[], &[], &[]],
        [&[], &[], &["a", "b", "c"]],
        [&["a", "c"], &[], &[]],
        [&["c"], &["a"], &[]],
        [&["c"], &["a"], &["d"]],
        [&["c", "d"], &["a"], &[]],
        [&["d"], &["a", "c"], &[]],
        [&["d"], &["a", "c"], &["e"]],
    ];

    #[test]
    fn a_log_that_is_cut_at_any_byte_says_what_its_whole_records_say() {
        let directory = tempfile::tempdir().unwrap();
        let ends = example(directory.path());
        let bytes = fs::read(directory.path().join("log")).unwrap();
        assert_eq!(bytes.len() as u64, *ends.last().unwrap());
        for len in 0..=bytes.len() {
            let cut = tempfile::tempdir().unwrap();
            fs::write(cut.path().join("log"), &bytes[..len]).unwrap();
            let (log, past) = Log::open(cut.path(), false).unwrap();
            let records = ends.iter().filter(|end| **end <= len as u64).count();
            let [left, done, open] = STATES[records];
            let of = |is_done| {
                let of = past.won.iter().filter(move |(_, done)| **done == is_done);
                of.map(|(url, _)| url.as_str()).collect::<HashSet<_>>()
            };
            assert_eq!(of(false), HashSet::from_iter(left.iter().copied()), "{len}");
            assert_eq!(of(true), HashSet::from_iter(done.iter().copied()), "{len}");
            assert_eq!(past.open, open, "{len}");
            let whole = records.checked_sub(1).map_or(0, |last| ends[last]);
            assert_eq!(past.cut, len as u64 - whole);
            // What is written next is read after the whole records.
            drop(log);
            let (mut log, _) = Log::open(cut.path(), true).unwrap();
            log.finish(&Done { url: "z".into(), status: 404, size: 0 });
            log.write().unwrap();
            drop(log);
            let again = Log::open(cut.path(), false).unwrap().1;
            assert_eq!((again.won["z"], again.won.len()), (true, left.len() + done.len() + 1));
        }
    }

    #[test]
    fn a_changed_byte_ends_the_log_there() {
        let directory = tempfile::tempdir().unwrap();
        let ends = example(directory.path());
        let path = directory.path().join("log");
        let bytes = fs::read(&path).unwrap();
        for at in ends[0] as usize..bytes.len() {
            let mut wrong = bytes.clone();
            wrong[at] ^= 1;
            fs::write(&path, &wrong).unwrap();
            let (log, past) = Log::open(directory.path(), false).unwrap();
            let whole = ends.iter().filter(|end| **end <= at as u64).max().unwrap();
            assert_eq!((log.bytes, past.cut), (*whole, bytes.len() as u64 - whole));
        }
    }

    #[test]
    fn a_directory_has_one_process_and_no_other_file_is_cut() {
        let directory = tempfile::tempdir().unwrap();
        let first = Log::open(directory.path(), false).unwrap();
        let error = Log::open(directory.path(), false).unwrap_err().to_string();
        assert!(error.contains("another process"), "{error}");
        drop(first);
        let path = directory.path().join("log");
        let other = "what a person wrote\n".repeat(10);
        fs::write(&path, &other).unwrap();
        assert!(Log::open(directory.path(), false).is_err());
        assert_eq!(fs::read_to_string(&path).unwrap(), other);
    }

    #[test]
    fn a_line_of_output_that_was_cut_is_removed() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("output");
        fs::write(&path, "200 a 1\n200 b").unwrap();
        writeln!(append(&path).unwrap(), "200 c 3").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "200 a 1\n200 c 3\n");
        assert!(append(Path::new("/dev/null")).is_ok());
    }
}
