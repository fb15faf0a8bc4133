//! An exact list on disk: sorted lines in pages, and an index with the first line of each page. A
//! lookup reads one page.

use std::env;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};

/// The size from which a page is full. It ends with a whole line.
const PAGE: usize = 4096;

/// A file of sorted lines, which is deleted when this is dropped.
pub(crate) struct SortedFile {
    file: File,
    /// Where each page begins, and its first line.
    pages: Vec<(u64, String)>,
    len: u64,
}

impl SortedFile {
    /// Writes sorted lines to a temporary file.
    pub(crate) fn new(lines: &[String]) -> io::Result<Self> {
        let folder = env::temp_dir();
        let mut file = tempfile::tempfile_in(&folder).map_err(|error| {
            io::Error::new(error.kind(), format!("{}: {error}", folder.display()))
        })?;
        let (mut pages, mut page, mut len) = (Vec::new(), String::new(), 0);
        for line in lines {
            if page.is_empty() {
                pages.push((len, line.clone()));
            }
            page += line;
            page.push('\n');
            if page.len() >= PAGE {
                file.write_all(page.as_bytes())?;
                len += page.len() as u64;
                page.clear();
            }
        }
        file.write_all(page.as_bytes())?;
        len += page.len() as u64;
        Ok(Self { file, pages, len })
    }

    /// Returns whether a line is in the file.
    pub(crate) fn contains(&mut self, line: &str) -> io::Result<bool> {
        // The page of a line is the last one that does not begin behind it.
        let behind = self.pages.partition_point(|(_, first)| first.as_str() <= line);
        let Some((start, _)) = behind.checked_sub(1).map(|page| &self.pages[page]) else {
            return Ok(false);
        };
        let end = self.pages.get(behind).map_or(self.len, |(start, _)| *start);
        let mut page = vec![0; (end - start) as usize];
        self.file.seek(SeekFrom::Start(*start))?;
        self.file.read_exact(&mut page)?;
        Ok(page.split(|&byte| byte == b'\n').any(|found| found == line.as_bytes()))
    }

    /// Returns the size of the file.
    pub(crate) fn len(&self) -> u64 {
        self.len
    }

    /// Returns the memory of the index.
    pub(crate) fn index_in_bytes(&self) -> u64 {
        let of = |(_, first): &(u64, String)| (size_of::<(u64, String)>() + first.len()) as u64;
        self.pages.iter().map(of).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_contains_its_lines_and_no_others() {
        for count in [0, 1, 2, 5000] {
            // Every other number; the last digits make lines of several lengths.
            let line = |i: u32| format!("{i:06}{}", "x".repeat(i as usize % 50));
            let lines: Vec<String> = (0..count).map(|i| line(2 * i + 1)).collect();
            let mut file = SortedFile::new(&lines).unwrap();
            assert_eq!(file.len(), lines.iter().map(|line| line.len() as u64 + 1).sum::<u64>());
            for i in 0..2 * count + 2 {
                let expected = i % 2 == 1 && i < 2 * count;
                assert_eq!(file.contains(&line(i)).unwrap(), expected, "{i} of {count}");
            }
            // Parts of lines, and several lines, are no lines.
            assert!(!file.contains("00000").unwrap() && !file.contains("zz").unwrap());
            assert!(count < 2 || !file.contains(&lines[..2].join("\n")).unwrap());
        }
    }

    #[test]
    fn the_empty_line_is_listed_only_if_it_was_written() {
        let mut file = SortedFile::new(&["a".to_owned()]).unwrap();
        assert!(!file.contains("").unwrap());
    }
}
