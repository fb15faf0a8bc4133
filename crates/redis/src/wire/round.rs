//! What an insert or a query of items does next, and what a reply means for it. Knows no
//! connection.

use core::ops::Range;

use crate::error::Error;
use crate::wire::tag::State;

/// The most items of one command. It keeps the server busy for a millisecond, in which no other
/// client is served.
pub(crate) const MAX_ITEMS: usize = 256;

/// How often a shard is asked that changes again and again.
const MAX_ROUNDS: u32 = 64;

/// Why an insert or a query has no end.
const CHANGES: &str = "the shard changes its slice again and again";

/// An item of a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Item {
    /// Its number in the batch.
    pub(crate) number: usize,
    pub(crate) hash: u64,
}

/// What is sent next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// Read the tags of these slices, and whether they have the items.
    Read(Range<u32>),
    /// Read the tag of this slice, set the bits of the items in it, and read their old values.
    Set(u32),
    /// Ask which slice is open.
    Find,
}

/// The reply of one slice: its state, and a bit per item. After [`Step::Read`]: whether it has
/// the item. After
/// [`Step::Set`]: whether a bit was not set before.
pub(crate) type Reply = (State, Vec<bool>);

/// The insert of items into one shard. `protocol.md` has the proof.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Inserts {
    /// Those without a verdict.
    items: Vec<Item>,
    /// The first slice that may have them: they are in none below, or this insert was the
    /// first to set their bits there.
    from: u32,
    /// Whether their bits are in a closed slice: from then on, other inserts of the items
    /// return `false`.
    stored: bool,
    rounds: u32,
    next: Next,
}

/// The query for items in one shard.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Query {
    rounds: u32,
    /// Whether the open slice must be found first.
    lost: bool,
}

/// The step of an insert that comes next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Next {
    /// The first of a round.
    Begin,
    Set(u32),
    Find,
    /// Give up: the bits of this insert and those of others are the same.
    Fail,
}

impl Inserts {
    pub(crate) fn new(items: &[Item]) -> Self {
        Self { items: items.to_vec(), from: 0, stored: false, rounds: 0, next: Next::Begin }
    }

    /// Returns the items that have no result yet.
    pub(crate) fn items(&self) -> &[Item] {
        &self.items
    }

    /// Returns the next step, or `None` if all items have a result. `guess`: the slice that
    /// was open when the shard was last asked.
    ///
    /// # Errors
    ///
    /// [`Error::Unavailable`] after too many rounds, [`Error::VerdictUnknown`] if a failover has
    /// made the verdict unknown.
    pub(crate) fn next(&mut self, guess: u32) -> Result<Option<Step>, Error> {
        if self.items.is_empty() {
            return Ok(None);
        }
        match self.next {
            Next::Begin => {
                count(&mut self.rounds, CHANGES)?;
                // Another insert of this client may know less. To go back would be to find the bits
                // of this one.
                let slice = guess.max(self.from);
                self.next = Next::Set(slice);
                // An item in a closed slice is not new.
                let closed = self.from..slice;
                Ok(Some(if closed.is_empty() { Step::Set(slice) } else { Step::Read(closed) }))
            }
            Next::Set(slice) => Ok(Some(Step::Set(slice))),
            Next::Find => Ok(Some(Step::Find)),
            Next::Fail => {
                let reason = "the shard has lost its growth while the insert went on".into();
                Err(Error::VerdictUnknown { reason })
            }
        }
    }

    /// Takes the replies to [`Step::Read`]. Passes the items that have a verdict to `on_verdict`.
    pub(crate) fn read(&mut self, replies: &[Reply], mut on_verdict: impl FnMut(Item, bool)) {
        if replies.iter().any(|(state, _)| *state != State::Closed) {
            // A failover has taken a growth back, or bits are gone.
            self.restart();
            return;
        }
        let mut number = 0;
        self.items.retain(|item| {
            let found = replies.iter().any(|(_, found)| found.get(number) == Some(&true));
            number += 1;
            if found {
                on_verdict(*item, false);
            }
            !found
        });
    }

    /// Takes the reply to [`Step::Set`]. Passes the items that have a verdict to `on_verdict`.
    pub(crate) fn set(
        &mut self,
        slice: u32,
        (state, new): &Reply,
        mut on_verdict: impl FnMut(Item, bool),
    ) {
        match state {
            // Of all inserts of an item, the first to set its bits in the open slice is the
            // winner.
            State::Open => {
                self.items.drain(..).zip(new).for_each(|(item, new)| on_verdict(item, *new));
            }
            // The slice was closed before. An item whose bits were all set is not new. An item
            // whose bits this insert was the first to set goes on: all others that come later stop
            // here.
            State::Closed => {
                self.from = slice + 1;
                self.stored = true;
                self.next = Next::Begin;
                let mut new = new.iter();
                self.items.retain(|item| {
                    let goes_on = new.next() == Some(&true);
                    if !goes_on {
                        on_verdict(*item, false);
                    }
                    goes_on
                });
            }
            // The bits went into a key that is no part of the filter. If a failover has taken a
            // growth back, an older slice is open; if not, it is lost.
            State::Gone => self.restart(),
        }
    }

    /// Takes the reply to [`Step::Find`]: there is an open slice.
    pub(crate) const fn found(&mut self) {
        self.next = Next::Begin;
    }

    /// Returns the error of the items that have no verdict, if the insert cannot go on.
    pub(crate) fn failed(&self, error: Error) -> Error {
        match error {
            Error::VerdictUnknown { .. } => error,
            error if self.stored => Error::VerdictUnknown { reason: error.to_string().into() },
            error => error,
        }
    }

    /// Begins again: a failover may have taken back the slices that were seen. An insert that
    /// has set bits in a closed slice would find these, and return `false` although nobody was
    /// first.
    const fn restart(&mut self) {
        self.from = 0;
        self.next = if self.stored { Next::Fail } else { Next::Find };
    }
}

impl Query {
    pub(crate) const fn new() -> Self {
        Self { rounds: 0, lost: false }
    }

    /// Returns the slices to read next, or `None` if the open slice must be found first.
    /// `guess`: the slice that was open when the shard was last asked.
    ///
    /// # Errors
    ///
    /// [`Error::Unavailable`] after too many rounds.
    pub(crate) fn next(&mut self, guess: u32) -> Result<Option<Range<u32>>, Error> {
        if self.lost {
            return Ok(None);
        }
        count(&mut self.rounds, CHANGES)?;
        Ok(Some(0..guess + 1))
    }

    /// Returns whether the shard is asked for the first time.
    pub(crate) const fn is_first(&self) -> bool {
        self.rounds <= 1
    }

    /// Takes the replies of these slices. Returns which of the `items` items were found, if
    /// the query is complete.
    pub(crate) fn read(&mut self, replies: &[Reply], items: usize) -> Option<Vec<bool>> {
        let closed = replies.len().saturating_sub(1);
        let expected = |number| if number == closed { State::Open } else { State::Closed };
        if replies.iter().enumerate().any(|(number, (state, _))| *state != expected(number)) {
            // The shard has grown, or a failover has taken a growth back, or bits are gone.
            self.lost = true;
            return None;
        }
        let found = |item| replies.iter().any(|(_, found)| found.get(item) == Some(&true));
        Some((0..items).map(found).collect())
    }

    /// The open slice has been found.
    pub(crate) const fn found(&mut self) {
        self.lost = false;
    }
}

/// Counts a round. `reason`: why there are too many, if there are.
pub(crate) fn count(rounds: &mut u32, reason: &str) -> Result<(), Error> {
    *rounds += 1;
    if *rounds <= MAX_ROUNDS { Ok(()) } else { Err(Error::Unavailable { reason: reason.into() }) }
}
