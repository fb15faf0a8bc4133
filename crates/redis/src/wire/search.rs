//! The search for the open slice of a shard, by the tags. Knows no connection.

use core::ops::Range;

use crate::wire::tag::State;

/// The tags that are read at once.
const TAGS: u32 = 4;

/// How often the search begins again, if a server contradicts what it said.
const MAX_RESTARTS: u32 = 8;

/// A search among the slices of a shard.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Search {
    /// The number of slices that a shard can have.
    slices: u32,
    /// The first slice whose tag is read next.
    first: u32,
    restarts: u32,
}

impl Search {
    pub(crate) const fn new(slices: u32) -> Self {
        Self { slices, first: 0, restarts: 0 }
    }

    /// Returns the slices whose tags are read next, over one connection.
    pub(crate) fn tags(&self) -> Range<u32> {
        self.first..self.slices.min(self.first + TAGS)
    }

    /// Takes the states of these slices. Returns the open one, or as an error the one that is
    /// gone, or `None` if more tags must be read.
    pub(crate) fn read(&mut self, states: &[State]) -> Option<Result<u32, u32>> {
        let numbers = self.tags();
        let end = numbers.end;
        for (number, state) in numbers.zip(states) {
            // The last tag that was closed is read again with those behind it. If it is not closed
            // any more, a failover has taken growth back in between, and the tags behind it are no
            // part of the filter.
            let again = self.first > 0 && number == self.first && *state != State::Closed;
            if again && self.restarts < MAX_RESTARTS {
                self.restarts += 1;
                self.first = 0;
                return None;
            }
            match state {
                State::Open => return Some(Ok(number)),
                State::Closed => {}
                State::Gone => return Some(Err(number)),
            }
        }
        // The last slice is never closed.
        if end == self.slices {
            return Some(Err(end - 1));
        }
        self.first = end - 1;
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::tag::State::{Closed, Gone, Open};

    /// Returns the result of a search, and the number of reads. `tag` returns the state of a
    /// slice at a read.
    fn search(slices: u32, tag: impl Fn(u32, u32) -> State) -> (Result<u32, u32>, u32) {
        let mut search = Search::new(slices);
        for read in 0..100 {
            let states: Vec<State> = search.tags().map(|number| tag(read, number)).collect();
            if let Some(result) = search.read(&states) {
                return (result, read + 1);
            }
        }
        panic!("the search does not end");
    }

    /// Every sequence of states of up to eight slices.
    #[test]
    fn the_first_tag_that_is_not_closed_decides() {
        for slices in 1..=8_u32 {
            for code in 0..3_u32.pow(slices) {
                let tag =
                    |number: u32| [Open, Closed, Gone][(code / 3_u32.pow(number) % 3) as usize];
                let expected = (0..slices).find(|number| tag(*number) != Closed);
                let expected = match expected {
                    Some(number) if tag(number) == Open => Ok(number),
                    Some(number) => Err(number),
                    None => Err(slices - 1),
                };
                let (result, reads) = search(slices, |_, number| tag(number));
                assert_eq!(result, expected, "{slices} {code}");
                // Four tags with the first read, three with each other.
                let last = expected.unwrap_or_else(|number| number);
                assert_eq!(reads, last.saturating_sub(1) / 3 + 1, "{slices} {code}");
            }
        }
    }

    /// A failover between two reads takes any number of growths back. The open slice is found,
    /// and none is taken for a lost one.
    #[test]
    fn growth_that_is_taken_back_between_reads_loses_nothing() {
        let tag = |open: u32, number: u32| match number {
            number if number < open => Closed,
            number if number == open => Open,
            _ => Gone,
        };
        for before in 4..12 {
            for after in 0..=before {
                for failover in 1..4 {
                    let open = |read| if read < failover { before } else { after };
                    let (result, reads) = search(12, |read, number| tag(open(read), number));
                    let expected = if reads > failover { after } else { before };
                    assert_eq!(result, Ok(expected), "{before} {after} {failover}");
                }
            }
        }
    }

    /// A key that is lost between two reads is found.
    #[test]
    fn a_key_that_is_lost_between_reads_is_gone() {
        for lost in 0..6 {
            let tag = |read, number| match number {
                number if number == lost && read > 0 => Gone,
                5 => Open,
                _ => Closed,
            };
            // The first read has seen slices 0 to 2 for the last time.
            let expected = if lost < 3 { Ok(5) } else { Err(lost) };
            assert_eq!(search(6, tag).0, expected, "{lost}");
        }
    }

    /// A server whose tags contradict each other at each read is not asked for ever.
    #[test]
    fn the_search_ends() {
        let tag = |read: u32, _| if read.is_multiple_of(2) { Closed } else { Open };
        assert_eq!(search(20, tag), (Ok(3), 18));
    }
}
