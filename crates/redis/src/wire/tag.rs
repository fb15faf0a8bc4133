//! The tag at the end of each key: whose bits they are, and whether inserts go there.

use core::fmt;

/// The bytes of a tag.
pub(crate) const TAG_BYTES: u64 = 8;

/// The identity of a filter: a random number of 62 bits that is not 0. Its keys have other names
/// than those of any other filter, and its tags differ from the zeros of a key that was deleted and
/// written again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Identity(u64);

/// What a tag says about a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum State {
    /// Inserts go there.
    Open,
    /// It is full: inserts go to the next slice.
    Closed,
    /// The bits are not those of this filter: the key was deleted, evicted, or never written.
    Gone,
}

impl Identity {
    /// Returns the identity for a random number.
    pub(crate) const fn of_random(random: u64) -> Self {
        Self(random >> 2 | 1)
    }

    pub(crate) const fn of_u64(number: u64) -> Option<Self> {
        if number != 0 && number < 1 << 62 { Some(Self(number)) } else { None }
    }

    /// Reads what `Display` shows.
    pub(crate) fn of_digits(digits: &str) -> Option<Self> {
        let valid = digits.len() == 16 && digits.bytes().all(|digit| digit.is_ascii_hexdigit());
        Self::of_u64(u64::from_str_radix(if valid { digits } else { "" }, 16).ok()?)
    }

    pub(crate) const fn to_u64(self) -> u64 {
        self.0
    }

    /// Returns the tag, a positive number, as bytes in the order in which `BITFIELD` reads them.
    pub(crate) const fn tag(self, closed: bool) -> [u8; TAG_BYTES as usize] {
        (self.0 << 1 | closed as u64).to_be_bytes()
    }

    /// Returns what a tag says that `BITFIELD … GET i64` read.
    pub(crate) const fn state(self, tag: i64) -> State {
        if tag as u64 >> 1 != self.0 {
            return State::Gone;
        }
        if tag & 1 == 0 { State::Open } else { State::Closed }
    }
}

/// Shows 16 hexadecimal digits: a part of the names of keys.
impl fmt::Display for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_state_the_filter_and_whether_it_is_closed() {
        for random in [0, 1, u64::MAX, 0x1234_5678_9ABC_DEF0] {
            let identity = Identity::of_random(random);
            assert_eq!(Identity::of_u64(identity.to_u64()), Some(identity));
            assert_eq!(Identity::of_digits(&identity.to_string()), Some(identity));
            for (closed, state) in [(false, State::Open), (true, State::Closed)] {
                let tag = i64::from_be_bytes(identity.tag(closed));
                assert!(tag > 0);
                assert_eq!(identity.state(tag), state);
                assert_eq!(identity.state(tag ^ 8), State::Gone);
            }
            assert_eq!(identity.state(0), State::Gone);
        }
        assert_eq!(Identity::of_u64(0), None);
        assert_eq!(Identity::of_u64(1 << 62), None);
        for wrong in ["", "13", "+000000000000013", "0000000000000000", "ffffffffffffffff"] {
            assert_eq!(Identity::of_digits(wrong), None, "{wrong}");
        }
    }
}
