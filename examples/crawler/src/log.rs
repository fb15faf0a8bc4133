//! The log of a process: its records, and what they say after a kill. README.md has the format.

use std::collections::{BTreeSet, HashMap};
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::path::Path;

use fs_err::{self as fs, File};
use url::Url;

use crate::args::Args;
use crate::failure::{Damaged, Failure, at};
use crate::urls::{self, MAX_BYTES};

/// A page that is done.
pub(crate) struct Done {
    pub(crate) url: String,
    /// The status of the answer, or a word: why there is none.
    pub(crate) result: String,
    pub(crate) size: u64,
}

/// What a log says about the crawl so far.
#[derive(Debug, Default)]
pub(crate) struct Past {
    /// The identity of the crawl, empty in a new log.
    pub(crate) identity: String,
    /// The URLs that this process has won, and whether they are done.
    pub(crate) won: HashMap<String, bool>,
    /// The URLs of an intent without a verdict, without those that were won before.
    pub(crate) open: Vec<String>,
    /// The URLs of damaged records, and of intents whose verdict may be damaged.
    unsure: Vec<String>,
    /// Where the damaged records begin that no repair has accepted.
    damaged: BTreeSet<u64>,
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
    pub(crate) fn open(args: &Args) -> Result<(Self, Past), Failure> {
        let path = args.state.join("log");
        fs::create_dir_all(&args.state)?;
        let file = File::options().read(true).append(true).create(true).open(&path)?;
        file.try_lock().map_err(|_| at(&args.state, &"another process uses it"))?;
        let (mut past, whole) = Past::read(BufReader::new(&file))?;
        past.cut = file.metadata()?.len() - whole;
        let is_new = past.identity.is_empty();
        // A file of another program is not touched. The first record has 34 bytes.
        if is_new && past.won.is_empty() && whole + past.cut > 34 {
            return Err(at(&path, &"not the log of a crawler"));
        }
        if let Some(&offset) = past.damaged.first().filter(|_| !args.repair) {
            return Err(Damaged { path, offset }.into());
        }
        file.set_len(whole)?;
        let mut log = Self { file, buffer: Vec::new(), bytes: whole, fsync: args.fsync };
        if is_new {
            past.identity = format!("{:08x}", getrandom::u32()?);
            log.record(&format!("tamis-crawler 1 {}", past.identity));
            // The name of a new file is in its directory.
            #[cfg(unix)]
            File::open(&args.state)?.sync_all()?;
        }
        past.damaged.iter().for_each(|offset| log.record(&format!("~ {offset}")));
        log.write()?;
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
    pub(crate) fn finish(&mut self, Done { url, result, size }: &Done) {
        self.record(&format!(". {result} {size} {url}"));
    }

    fn record(&mut self, text: &str) {
        let sum = crc32fast::hash(text.as_bytes());
        // Writing to memory does not fail.
        _ = writeln!(self.buffer, "{sum:08x} {text}");
    }

    /// Writes what was added. From then on it survives a kill, and with `fsync` a power loss.
    pub(crate) fn write(&mut self) -> io::Result<()> {
        self.file.write_all(&self.buffer)?;
        self.bytes += self.buffer.len() as u64;
        self.buffer.clear();
        if self.fsync { self.file.sync_data() } else { Ok(()) }
    }
}

impl Past {
    /// Reads the records that are whole. Returns also where the last one ends.
    fn read(mut from: impl BufRead) -> io::Result<(Self, u64)> {
        let (mut past, mut line, mut end) = (Self::default(), Vec::new(), 0);
        while from.read_until(b'\n', &mut line)? > 0 && line.ends_with(b"\n") {
            if text(&line).and_then(|text| past.take(text)).is_none() {
                past.skip(end, &line);
            }
            end += line.len() as u64;
            line.clear();
        }
        past.open.append(&mut past.unsure);
        past.open.retain(|url| !past.won.contains_key(url));
        Ok((past, end))
    }

    /// Keeps what a damaged record may have said. Its URLs are fetched, and so are those of the
    /// last intent: it may be their verdict.
    fn skip(&mut self, offset: u64, line: &[u8]) {
        self.damaged.insert(offset);
        self.unsure.append(&mut self.open);
        let text = String::from_utf8_lossy(line);
        let urls = text.split_whitespace().filter_map(|word| urls::normal(&Url::parse(word).ok()?));
        self.unsure.extend(urls.map(String::from));
    }

    /// Applies a record. Returns `None` if it is none.
    fn take(&mut self, text: &str) -> Option<()> {
        let (kind, rest) = text.split_once(' ')?;
        match kind {
            "tamis-crawler" => self.identity = rest.strip_prefix("1 ")?.to_owned(),
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
            "~" => _ = self.damaged.remove(&rest.parse().ok()?),
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

/// Opens a file of lines for appending. Removes a last line of this program that was cut in the URL
/// or later, and ends another one.
pub(crate) fn append(path: &Path) -> io::Result<File> {
    // A pipe that is open for reading, too, would never be closed for its writer.
    let mut file = File::options().read(path.is_file()).append(true).create(true).open(path)?;
    // A device and a pipe have no length. A line is not longer than two URLs.
    let (len, mut tail) = (file.metadata()?.len(), Vec::new());
    if len > 0 {
        file.seek(SeekFrom::Start(len.saturating_sub(2 * MAX_BYTES as u64)))?;
        file.read_to_end(&mut tail)?;
        let last = tail.rsplit(|byte| *byte == b'\n').next().unwrap_or_default();
        // So begins a line of this program: with a status or a word, and a URL.
        let is_own = last.splitn(2, |byte| *byte == b' ').nth(1).map(|url| url.starts_with(b"h"));
        match is_own {
            // Another process may append to it now, so its length is left alone.
            _ if last.is_empty() => {}
            Some(true) => file.set_len(len - last.len() as u64)?,
            _ => file.write_all(b"\n")?,
        }
    }
    Ok(file)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;
    use std::ffi::OsString;

    use clap::Parser;

    use super::*;

    /// Opens the log in a directory, with one more argument if it is not empty.
    fn log_in(directory: &Path, argument: &str) -> Result<(Log, Past), Failure> {
        let state = ["crawler", "--start", "http://a.example", "--state"].map(Into::into);
        let arguments = state.into_iter().chain([directory.as_os_str().to_owned()]);
        let more = Some(argument.into()).filter(|argument: &OsString| !argument.is_empty());
        Log::open(&Args::parse_from(arguments.chain(more)))
    }

    /// Writes a log, and returns what must hold once each prefix was read: the records end at the
    /// lengths, and each step is one record.
    fn example(directory: &Path) -> Vec<u64> {
        let (mut log, past) = log_in(directory, "").unwrap();
        assert_eq!((past.identity.len(), past.cut), (8, 0));
        let mut ends = vec![log.bytes];
        let done = |url: &str| Done { url: url.to_owned(), result: "200".to_owned(), size: 7 };
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
            let (log, past) = log_in(cut.path(), "").unwrap();
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
            let (mut log, _) = log_in(cut.path(), "--fsync").unwrap();
            log.finish(&Done { url: "z".into(), result: "404".to_owned(), size: 0 });
            log.write().unwrap();
            drop(log);
            let again = log_in(cut.path(), "").unwrap().1;
            assert_eq!((again.won["z"], again.won.len()), (true, left.len() + done.len() + 1));
        }
    }

    /// What a log with real URLs says that is damaged in a record: no URL is lost that the damaged
    /// bytes do not spell.
    #[test]
    fn a_damaged_record_is_an_error_and_a_repair_keeps_all_others() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("log");
        let names: Vec<String> = (0..20).map(|i| format!("http://h.example/page/{i}")).collect();
        let urls: Vec<&str> = names.iter().map(String::as_str).collect();
        let (mut log, _) = log_in(directory.path(), "").unwrap();
        let mut starts = Vec::new();
        for four in urls.chunks(4) {
            let done = Done { url: four[0].to_owned(), result: "200".to_owned(), size: 7 };
            let steps: [&dyn Fn(&mut Log); 3] =
                [&|log| log.intend(four), &|log| log.decide(&[true, true, false, true]), &|log| {
                    log.finish(&done);
                }];
            for step in steps {
                starts.push(log.bytes);
                step(&mut log);
                log.write().unwrap();
            }
        }
        let (end, whole) = (log.bytes, fs::read(&path).unwrap());
        drop(log);
        for at in 0..whole.len() - 1 {
            let mut wrong = whole.clone();
            wrong[at] ^= 1;
            fs::write(&path, &wrong).unwrap();
            let start = starts.iter().filter(|start| **start <= at as u64).max().unwrap_or(&0);
            let error = log_in(directory.path(), "").unwrap_err();
            assert!(error.to_string().contains("--repair"), "{error}");
            let damaged = Damaged { path: path.clone(), offset: *start };
            assert_eq!(*error.downcast::<Damaged>().unwrap(), damaged, "{at}");
            assert_eq!(fs::read(&path).unwrap(), wrong, "a damaged log is changed");

            // What the log has won or has to claim again: all that it had won, but at most the URL
            // with the damaged byte.
            let (mut log, past) = log_in(directory.path(), "--repair").unwrap();
            let open_urls: Vec<&str> = past.open.iter().map(String::as_str).collect();
            let is_kept = |url: &&&str| past.won.contains_key(**url) || open_urls.contains(*url);
            let won = || urls.iter().enumerate().filter(|(i, _)| i % 4 != 2).map(|(_, url)| url);
            assert!(won().filter(is_kept).count() >= 14, "{at}: {past:?}");
            // A page that is not done remains so.
            assert!(past.won.values().filter(|done| **done).count() <= 5);
            assert!(
                past.won
                    .iter()
                    .all(|(url, done)| !done || url.ends_with(['0', '4', '8', '2', '6']))
            );

            // The repair is accepted once, and what comes after is read.
            log.finish(&Done { url: "z".to_owned(), result: "404".to_owned(), size: 0 });
            log.write().unwrap();
            drop(log);
            let again = log_in(directory.path(), "").unwrap().1;
            assert_eq!((again.won["z"], &again.open), (true, &past.open));
            assert_eq!(again.won.len(), past.won.len() + 1);
        }
        // Without its last byte the last record is cut, as by a kill.
        fs::write(&path, &whole[..whole.len() - 1]).unwrap();
        let past = log_in(directory.path(), "").unwrap().1;
        assert_eq!(past.cut, end - 1 - starts.last().unwrap());
    }

    /// A repair accepts the damage that it has found, and not what comes later.
    #[test]
    fn damage_before_a_repair_is_an_error_unless_that_repair_has_accepted_it() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("log");
        let ends = example(directory.path());
        let damage = |records: &[usize]| {
            let mut bytes = fs::read(&path).unwrap();
            records.iter().for_each(|record| bytes[ends[*record] as usize - 2] ^= 1);
            fs::write(&path, bytes).unwrap();
        };
        let damaged = || match log_in(directory.path(), "") {
            Ok(_) => None,
            Err(error) => Some(error.downcast::<Damaged>().unwrap().offset),
        };
        damage(&[3, 6]);
        assert_eq!(damaged(), Some(ends[2]));
        log_in(directory.path(), "--repair").unwrap();
        assert_eq!(damaged(), None);
        damage(&[4]);
        assert_eq!(damaged(), Some(ends[3]));
        log_in(directory.path(), "--repair").unwrap();
        let once = fs::read(&path).unwrap();
        // A second repair finds nothing to do.
        log_in(directory.path(), "--repair").unwrap();
        assert_eq!((damaged(), fs::read(&path).unwrap()), (None, once));
    }

    /// A lost verdict: its URLs are claimed again, whatever comes after.
    #[test]
    fn a_verdict_that_is_damaged_counts_as_won() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("log");
        example(directory.path());
        let text = fs::read_to_string(&path).unwrap().replacen("! 101", "! 001", 1);
        fs::write(&path, text).unwrap();
        let past = log_in(directory.path(), "--repair").unwrap().1;
        // "a" and "c" are done; "d" is won; "e" has no verdict.
        assert_eq!(past.open, ["e", "b"]);
        assert_eq!((past.won["a"], past.won["c"], past.won["d"]), (true, true, false));
    }

    #[test]
    fn a_directory_has_one_process_and_no_other_file_is_cut() {
        let directory = tempfile::tempdir().unwrap();
        let first = log_in(directory.path(), "").unwrap();
        let error = log_in(directory.path(), "").unwrap_err().to_string();
        assert!(error.contains("another process"), "{error}");
        drop(first);
        let path = directory.path().join("log");
        let other = "what a person wrote\n".repeat(10);
        fs::write(&path, &other).unwrap();
        for argument in ["", "--repair"] {
            let error = log_in(directory.path(), argument).unwrap_err().to_string();
            assert!(error.contains("not the log of a crawler"), "{error}");
            assert_eq!(fs::read_to_string(&path).unwrap(), other);
        }
    }

    #[test]
    fn a_line_of_output_that_was_cut_in_its_url_is_removed_and_no_other() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("output");
        let long = "x".repeat(20_000);
        for (last, kept) in [
            ("20", "20\n"),
            ("timeout ht", ""),
            ("200 http://a.example/ 1", ""),
            ("the last line", "the last line\n"),
            (&long, &format!("{long}\n")),
            ("", ""),
        ] {
            fs::write(&path, format!("200 http://a.example/ 1\n{last}")).unwrap();
            writeln!(append(&path).unwrap(), "200 http://c.example/ 3").unwrap();
            let lines = format!("200 http://a.example/ 1\n{kept}200 http://c.example/ 3\n");
            assert_eq!(fs::read_to_string(&path).unwrap(), lines);
        }
        assert!(append(Path::new("/dev/null")).is_ok());
    }
}
