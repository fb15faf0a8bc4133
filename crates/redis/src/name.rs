//! The keys of a filter, and the hash slots of its shards.

use std::sync::Arc;

use crate::Error;

/// The hash slots of a cluster.
const SLOTS: u16 = 16_384;

/// The longest name.
const MAX_BYTES: usize = 200;

/// The name of a filter: a part of each of its keys.
///
/// | key | what it holds |
/// |---|---|
/// | `{name}` | the descriptor |
/// | `{name:i}:g` | the bits of generation `g` of shard `i` |
/// | `{name:i}:push:…` | bits on their way into a shard; they expire |
/// | `{name:i}:l:epochs` | with a window: the list of the epochs of shard `i`. `l`: the identity of the filter |
/// | `{name:i}:l:e:g` | with a window: the bits of generation `g` of epoch `e` of shard `i`; they expire |
///
/// A cluster hashes only what is between the braces, so all generations of a shard have one slot.
#[derive(Clone, Debug)]
pub(crate) struct Name(Arc<str>);

impl Name {
    pub(crate) fn new(name: &str) -> Result<Self, Error> {
        let valid = (1..=MAX_BYTES).contains(&name.len())
            && !name.chars().any(|c| matches!(c, '{' | '}') || c.is_control());
        if valid { Ok(Self(name.into())) } else { Err(Error::Name) }
    }

    pub(crate) fn descriptor(&self) -> String {
        format!("{{{}}}", self.0)
    }

    pub(crate) fn bits(&self, shard: u32, generation: u32) -> String {
        format!("{{{}:{shard}}}:{generation}", self.0)
    }

    pub(crate) fn push(&self, shard: u32, random: u64) -> String {
        format!("{{{}:{shard}}}:push:{random:016x}", self.0)
    }

    pub(crate) fn epochs(&self, shard: u32, life: u64) -> String {
        format!("{{{}:{shard}}}:{life:016x}:epochs", self.0)
    }

    pub(crate) fn epoch_bits(&self, shard: u32, life: u64, epoch: u64, generation: u32) -> String {
        format!("{{{}:{shard}}}:{life:016x}:{epoch}:{generation}", self.0)
    }

    /// Returns the hash slot of the descriptor.
    pub(crate) fn descriptor_slot(&self) -> u16 {
        slot(&self.0)
    }

    /// Returns the hash slot of all keys of a shard.
    pub(crate) fn slot(&self, shard: u32) -> u16 {
        slot(&format!("{}:{shard}", self.0))
    }
}

/// Returns the hash slot of a key's hashed part.
///
/// FORMAT: Redis Cluster specification, "Key distribution model": CRC16/XMODEM modulo 16384.
fn slot(hashed: &str) -> u16 {
    crc16::State::<crc16::XMODEM>::calculate(hashed.as_bytes()) % SLOTS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_are_those_of_the_specification() {
        // The check value of the specification, and slots that `CLUSTER KEYSLOT` of a server returns.
        assert_eq!(slot("123456789"), 0x31C3 % SLOTS);
        assert_eq!(slot("foo"), 12182);
        let name = Name::new("crawl").unwrap();
        assert_eq!((name.bits(7, 0), name.descriptor()), ("{crawl:7}:0".into(), "{crawl}".into()));
        assert_eq!(name.slot(7), slot("crawl:7"));
    }

    #[test]
    fn names_that_cannot_be_hashed_are_refused() {
        for wrong in ["", "a{b", "a}b", "a\nb", &"a".repeat(201)] {
            assert_eq!(Name::new(wrong).unwrap_err(), Error::Name);
        }
        assert!(Name::new("Ünicode name:3").is_ok());
    }
}
