//! The keys of a filter, and the hash slots of its shards.

use std::sync::Arc;

use crate::error::Error;
use crate::wire::lives::Keys;
use crate::wire::tag::Identity;

/// The hash slots of a cluster.
const SLOTS: u16 = 16_384;

/// The longest name.
const MAX_BYTES: usize = 200;

/// The name of a filter: a part of each of its keys.
///
/// | key | what it holds |
/// |---|---|
/// | `{name}` | the descriptor |
/// | `{name}:lives` | the identities that filters of this name have had |
/// | `{name:i}:life:g` | the bits of slice `g` of shard `i` |
/// | `{name:i}:life:push:…` | bits on their way into a shard; they expire |
/// | `{name:i}:life:epochs` | with a window: the list of the epochs of shard `i` |
/// | `{name:i}:life:e:g` | with a window: the bits of slice `g` of epoch `e`; they expire |
///
/// `life` is the identity of the filter, a random number of 16 hexadecimal digits. A filter that is
/// deleted and created again has another, so clients of the old one neither read nor write keys of
/// the new one.
///
/// A cluster hashes only what is between the braces, so all keys of a shard have one slot.
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

    /// Returns the keys in the slot of the descriptor.
    pub(crate) fn keys(&self) -> Keys {
        Keys { descriptor: self.descriptor(), lives: format!("{{{}}}:lives", self.0) }
    }

    pub(crate) fn bits(&self, life: Identity, shard: u32, slice: u32) -> String {
        format!("{{{}:{shard}}}:{life}:{slice}", self.0)
    }

    pub(crate) fn push(&self, life: Identity, shard: u32, random: u64) -> String {
        format!("{{{}:{shard}}}:{life}:push:{random:016x}", self.0)
    }

    pub(crate) fn epochs(&self, shard: u32, life: Identity) -> String {
        format!("{{{}:{shard}}}:{life}:epochs", self.0)
    }

    pub(crate) fn epoch_bits(&self, shard: u32, life: Identity, epoch: u64, slice: u32) -> String {
        format!("{{{}:{shard}}}:{life}:{epoch}:{slice}", self.0)
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
        // The check value of the specification, and slots that `CLUSTER KEYSLOT` of a server
        // returns.
        assert_eq!(slot("123456789"), 0x31C3 % SLOTS);
        assert_eq!(slot("foo"), 12182);
        let name = Name::new("crawl").unwrap();
        let life = Identity::of_u64(0x13).unwrap();
        assert_eq!(name.bits(life, 7, 0), "{crawl:7}:0000000000000013:0");
        let keys = name.keys();
        assert_eq!((&*keys.descriptor, &*keys.lives), ("{crawl}", "{crawl}:lives"));
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
