//! Bits on their way into a shard, which the server may evict at any time.

use core::fmt;

use super::explore::Model;
use super::{model, mutant};

const UNITED_A_PART: &str = "a push returned `Ok` and has added a part of its bits";

/// A planted defect.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Defect {
    None,
    /// The script adds what is there.
    NothingIsChecked,
    /// The script checks the tag at the end, and not the number of ones.
    OnlyTheTagIsChecked,
}

/// A chunk of bits, the last of which is the tag. The key is `None` if it is not there.
const CHUNKS: usize = 3;

#[derive(Clone, PartialEq, Eq, Hash)]
struct Push {
    defect: Defect,
    key: Option<[bool; CHUNKS]>,
    /// The chunks that are written.
    written: usize,
    /// Whether all was added, or nothing.
    united: Option<bool>,
    evictions: u32,
}

#[derive(Clone, Copy, Debug)]
enum Event {
    /// The client writes the next chunk, or unites the bits.
    Next,
    Eviction,
}

impl Model for Push {
    type Event = Event;

    fn events(&self) -> Vec<Event> {
        match self.united {
            Some(_) => Vec::new(),
            None if self.evictions > 0 && self.key.is_some() => vec![Event::Next, Event::Eviction],
            None => vec![Event::Next],
        }
    }

    fn happen(&mut self, event: Event) -> Result<(), &'static str> {
        match event {
            Event::Eviction => {
                self.evictions -= 1;
                self.key = None;
            }
            Event::Next if self.written < CHUNKS => {
                // A command that writes into a missing key creates it.
                self.key.get_or_insert_default()[self.written] = true;
                self.written += 1;
            }
            Event::Next => {
                let found = self.key.take().unwrap_or_default();
                let ones = found.iter().filter(|chunk| **chunk).count();
                let complete = match self.defect {
                    Defect::None => found[CHUNKS - 1] && ones == CHUNKS,
                    Defect::NothingIsChecked => true,
                    Defect::OnlyTheTagIsChecked => found[CHUNKS - 1],
                };
                self.united = Some(complete);
                if complete && ones < CHUNKS {
                    return Err(UNITED_A_PART);
                }
            }
        }
        Ok(())
    }

    fn end(&self) -> Result<(), &'static str> {
        let evicted = self.evictions < 2;
        if self.united == Some(false) && !evicted { Err("a push failed") } else { Ok(()) }
    }

    fn show(&self, event: Event, next: &Self) -> String {
        format!("{event:?}: {next:?}")
    }
}

impl fmt::Debug for Push {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} {:?}", self.key, self.united)
    }
}

fn push(defect: Defect) -> Push {
    Push { defect, key: None, written: 0, united: None, evictions: 2 }
}

#[test]
fn model_a_push_adds_all_of_its_bits_or_none() {
    model(7, 5, [push(Defect::None)]);
}

#[test]
fn mutant_a_push_adds_what_is_there() {
    for defect in [Defect::NothingIsChecked, Defect::OnlyTheTagIsChecked] {
        mutant(defect, UNITED_A_PART, &push(defect));
    }
}
