//! Changes of the bytes of a file.

use arbitrary::Arbitrary;

/// A change. The places are reduced to those of the file.
#[derive(Arbitrary, Clone, Copy, Debug)]
pub(crate) enum Edit {
    Flip { at: u16, bit: u8 },
    Set { at: u16, byte: u8 },
    SetWord { at: u16, word: u64 },
    Truncate { at: u16 },
    Cut { at: u16, len: u16 },
    Repeat { at: u16, len: u16 },
    Copy { at: u16, len: u16, to: u16 },
    Swap { at: u16, len: u16, to: u16 },
    Append { byte: u8 },
}

impl Edit {
    /// Changes the bytes.
    pub(crate) fn apply(self, bytes: &mut Vec<u8>) {
        let len_of_all = bytes.len();
        let place = |at: u16| usize::from(at) % len_of_all.max(1);
        let part = |at: u16, len: u16| place(at)..len_of_all.min(place(at) + 1 + usize::from(len));
        match self {
            _ if bytes.is_empty() => {}
            Self::Flip { at, bit } => bytes[place(at)] ^= 1 << (bit % 8),
            Self::Set { at, byte } => bytes[place(at)] = byte,
            Self::SetWord { at, word } => {
                let part = part(at & !7, 7);
                let len = part.len();
                bytes[part].copy_from_slice(&word.to_le_bytes()[..len]);
            }
            Self::Truncate { at } => bytes.truncate(place(at)),
            Self::Cut { at, len } => drop(bytes.drain(part(at, len))),
            Self::Repeat { at, len } => {
                let copy = bytes[part(at, len)].to_vec();
                bytes.splice(place(at)..place(at), copy);
            }
            Self::Copy { at, len, to } => {
                let copy = bytes[part(at, len)].to_vec();
                let to = part(to, (copy.len() - 1) as u16);
                let len = to.len();
                bytes[to].copy_from_slice(&copy[..len]);
            }
            Self::Swap { at, len, to } => {
                for (one, other) in part(at, len).zip(part(to, len)) {
                    bytes.swap(one, other);
                }
            }
            Self::Append { byte } => bytes.push(byte),
        }
    }
}
