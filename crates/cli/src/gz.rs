//! A reader of gzip data: all members, one after the other.

use std::io::{self, BufRead, Read};

use flate2::bufread::GzDecoder;

/// A reader of all members in a source. Zeros behind a member are skipped, as gzip does at the end:
/// tapes and block devices pad a file with them.
pub(crate) struct Members<R> {
    /// The decoder of the present member. There is none only while the next one is made.
    member: Option<GzDecoder<R>>,
}

impl<R: BufRead> Members<R> {
    pub(crate) fn new(source: R) -> Self {
        Self { member: Some(GzDecoder::new(source)) }
    }
}

impl<R: BufRead> Read for Members<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while let Some(member) = &mut self.member {
            let read = member.read(buffer)?;
            if read > 0 || buffer.is_empty() {
                return Ok(read);
            }
            if !has_more(member.get_mut())? {
                break;
            }
            // Behind the member and the zeros is another one.
            self.member = self.member.take().map(|member| GzDecoder::new(member.into_inner()));
        }
        Ok(0)
    }
}

/// Skips zeros. Returns whether something follows.
fn has_more(source: &mut impl BufRead) -> io::Result<bool> {
    loop {
        let bytes = source.fill_buf()?;
        if bytes.is_empty() {
            return Ok(false);
        }
        let zeros = bytes.iter().take_while(|byte| **byte == 0).count();
        let is_end = zeros < bytes.len();
        source.consume(zeros);
        if is_end {
            return Ok(true);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::{BufReader, Write};

    use flate2::write::GzEncoder;

    use super::*;

    fn gzip(text: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(text).expect("memory");
        encoder.finish().expect("memory")
    }

    #[test]
    fn members_follow_each_other_with_zeros_between_and_behind() {
        for zeros in [0, 1, 511, 10_000] {
            let padding = vec![0; zeros];
            let all =
                [gzip(b"one\n"), padding.clone(), gzip(b""), gzip(b"two\n"), padding].concat();
            let mut text = String::new();
            Members::new(BufReader::with_capacity(7, &all[..]))
                .read_to_string(&mut text)
                .expect("all members are valid");
            assert_eq!(text, "one\ntwo\n", "{zeros}");
        }
    }

    #[test]
    fn other_bytes_behind_a_member_and_a_cut_one_are_errors() {
        let member = gzip(b"one\n");
        for all in [[&member[..], b"\0\0x"].concat(), member[..member.len() - 1].to_vec()] {
            assert!(Members::new(&all[..]).read_to_end(&mut Vec::new()).is_err());
        }
    }
}
