//! The list of the epochs of a shard: a text in a key, whose words are the version of the shard.
//! Knows no connection.
//!
//! `<identity> <number>:<start>:<open> …`: the identity of the filter in 16 hexadecimal digits; for
//! each epoch, the oldest first, its number, its start in milliseconds by the clock of the shard's
//! master, and its open slice.

use core::fmt::Write;

use super::{EPOCHS, Window};
use crate::wire::tag::Identity;

/// The largest number that scripts compute exactly: their numbers are doubles.
const LARGEST: u64 = 1 << 53;

/// An epoch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Epoch {
    pub(crate) number: u64,
    /// Below 0 if a clock that starts in 1970 was set back.
    pub(crate) start: i64,
    /// The slice into which its items go. All below it are full.
    pub(crate) open: u32,
}

/// What the list of a shard says.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Epochs {
    text: String,
    /// One to [`EPOCHS`].
    list: Vec<Epoch>,
}

impl Epochs {
    /// Returns the list of these epochs.
    pub(crate) fn new(identity: Identity, list: Vec<Epoch>) -> Self {
        let mut text = identity.to_string();
        for Epoch { number, start, open } in &list {
            // A string takes any text.
            _ = write!(text, " {number}:{start}:{open}");
        }
        Self { text, list }
    }

    /// Reads the text of a list, which may be anything. Returns `None` if it is none of this
    /// filter, whose epochs have at most this number of slices.
    pub(crate) fn of_text(text: &[u8], identity: Identity, slices: u32) -> Option<Self> {
        let text = str::from_utf8(text).ok()?;
        let list = text.split(' ').skip(1).take(EPOCHS as usize + 1).map(|words| {
            let (number, rest) = words.split_once(':')?;
            let (start, open) = rest.split_once(':')?;
            let epoch = Epoch {
                number: number.parse().ok()?,
                start: start.parse().ok()?,
                open: open.parse().ok()?,
            };
            let exact = epoch.number < LARGEST && epoch.start.unsigned_abs() < LARGEST;
            (exact && epoch.open < slices).then_some(epoch)
        });
        let list: Vec<Epoch> = list.collect::<Option<_>>()?;
        let valid = (1..=EPOCHS as usize).contains(&list.len())
            && list.windows(2).all(|two| two[0].number < two[1].number);
        // What is written in another way is not from this filter.
        let read = Self::new(identity, list);
        (valid && read.text == text).then_some(read)
    }

    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// Returns the epoch into which items go.
    pub(crate) fn newest(&self) -> Epoch {
        // A list without epochs is not made.
        self.list.last().copied().unwrap_or(Epoch { number: 0, start: 0, open: 0 })
    }

    /// Returns the number of slices that the epoch with the most has.
    pub(crate) fn slices(&self) -> u32 {
        self.list.iter().map(|epoch| epoch.open + 1).max().unwrap_or(1)
    }

    /// Returns the epoch and the slice of each key with bits: the newest is the last.
    pub(crate) fn keys(&self) -> impl Iterator<Item = (Epoch, u32)> {
        self.list.iter().flat_map(|epoch| (0..=epoch.open).map(|slice| (*epoch, slice)))
    }

    /// Returns whether an epoch is remembered at a time of the master's clock.
    pub(crate) fn is_live(&self, epoch: Epoch, window: Window, now: i64) -> bool {
        // If the clock was set back to before the newest start, no time has passed since that.
        let back = (self.newest().start - now).max(0);
        now < epoch.start - back + window.life().cast_signed()
    }

    /// Returns the list after the growth of the newest epoch.
    pub(crate) fn grown(&self, identity: Identity) -> Self {
        let mut list = self.list.clone();
        list.iter_mut().next_back().into_iter().for_each(|epoch| epoch.open += 1);
        Self::new(identity, list)
    }

    /// Returns the epochs: for the model, whose shard changes them.
    #[cfg(test)]
    pub(crate) fn list(&self) -> &[Epoch] {
        &self.list
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const IDENTITY: Identity = Identity::of_random(0x1234_5678_9ABC_DEF0);

    fn epoch(number: u64, start: i64, open: u32) -> Epoch {
        Epoch { number, start, open }
    }

    #[test]
    fn what_is_written_is_read() {
        let list = vec![epoch(7, -3, 0), epoch(8, 1_700_000_000_000, 2)];
        let epochs = Epochs::new(IDENTITY, list.clone());
        assert_eq!(epochs.text(), "048d159e26af37bd 7:-3:0 8:1700000000000:2");
        let read = Epochs::of_text(epochs.text().as_bytes(), IDENTITY, 3).unwrap();
        assert_eq!(read, epochs);
        assert_eq!((read.newest(), read.slices()), (list[1], 3));
        let keys: Vec<_> = read.keys().map(|(epoch, slice)| (epoch.number, slice)).collect();
        assert_eq!(keys, [(7, 0), (8, 0), (8, 1), (8, 2)]);
        assert_eq!(read.grown(IDENTITY).newest(), epoch(8, 1_700_000_000_000, 3));
    }

    #[test]
    fn other_texts_are_not_lists() {
        let read = |text: &str| Epochs::of_text(text.as_bytes(), IDENTITY, 3);
        assert!(read("048d159e26af37bd 1:2:0").is_some());
        for wrong in [
            "",
            "048d159e26af37bd",
            "048d159e26af37bd ",
            "048d159e26af37be 1:2:0",
            "048d159e26af37bd 1:2:3",
            "048d159e26af37bd 1:2",
            "048d159e26af37bd 1:2:0:0",
            "048d159e26af37bd 01:2:0",
            "048d159e26af37bd 1:+2:0",
            "048d159e26af37bd 1:2:0 1:5:0",
            "048d159e26af37bd 1:9007199254740992:0",
            "048d159e26af37bd 9007199254740992:1:0",
            "048d159e26af37bd 1:1:0 2:2:0 3:3:0 4:4:0 5:5:0",
        ] {
            assert_eq!(read(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn epochs_are_live_until_they_are_due() {
        let epochs = Epochs::new(IDENTITY, vec![epoch(1, 1000, 0), epoch(2, 2500, 0)]);
        let window = Window::of_millis(3000);
        let live = |now| [0, 1].map(|number| epochs.is_live(epochs.list()[number], window, now));
        assert_eq!(live(4999), [true, true]);
        assert_eq!(live(5000), [false, true]);
        assert_eq!(live(6500), [false, false]);
        // Set back to before the newest start.
        assert_eq!(live(0), [true, true]);
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused(text in "(048d159e26af37bd)?[ :0-9-]{0,40}") {
            if let Some(read) = Epochs::of_text(text.as_bytes(), IDENTITY, 4) {
                prop_assert_eq!(read.text(), text);
                prop_assert!(read.keys().count() >= 1);
            }
        }
    }
}
