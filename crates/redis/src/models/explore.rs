//! Explores every order of events, depth first. A state that was explored before is not explored
//! again.

use core::fmt;
use std::collections::HashMap;
use std::hash::{Hash, Hasher};

use twox_hash::XxHash3_128;

use super::LOOP;

/// What is explored: clients, and what they use.
pub(super) trait Model: Clone + Hash {
    type Event: Copy + fmt::Debug;

    /// Lets clients go on until each waits for something that can happen.
    fn settle(&mut self) -> Result<(), &'static str> {
        Ok(())
    }

    /// Returns all that can happen next. If nothing can, all clients are done.
    fn events(&self) -> Vec<Self::Event>;

    /// Lets an event happen. Returns the violation that it leads to.
    fn happen(&mut self, event: Self::Event) -> Result<(), &'static str>;

    /// Checks what must be true when all clients are done.
    fn end(&self) -> Result<(), &'static str>;

    /// Describes an event, and the state that it leads to.
    fn show(&self, event: Self::Event, next: &Self) -> String;
}

/// What was explored.
#[derive(Debug)]
pub(super) struct Explored {
    /// The orders of all events.
    pub(super) orders: u128,
    pub(super) states: usize,
}

/// A violation, and the events that lead to it, the last first.
pub(super) struct Violation {
    pub(super) message: &'static str,
    events: Vec<String>,
}

impl fmt::Debug for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.events.iter().rev().try_for_each(|event| writeln!(f, "{event}"))?;
        f.write_str(self.message)
    }
}

/// Explores all that can happen.
pub(super) fn explore<M: Model>(world: &M) -> Result<Explored, Violation> {
    let (mut world, mut seen) = (world.clone(), HashMap::new());
    world.settle().map_err(violation)?;
    let orders = visit(&world, &mut seen)?;
    Ok(Explored { orders, states: seen.len() })
}

/// Returns the orders of all events from here on. `seen`: this number for each state, or `None`
/// while it is explored.
fn visit<M: Model>(world: &M, seen: &mut HashMap<u128, Option<u128>>) -> Result<u128, Violation> {
    let state = fingerprint(world);
    match seen.get(&state) {
        Some(Some(orders)) => return Ok(*orders),
        // The events lead back here: they can happen for ever.
        Some(None) => return Err(violation(LOOP)),
        None => seen.insert(state, None),
    };
    let events = world.events();
    let mut orders = 0_u128;
    if events.is_empty() {
        world.end().map_err(violation)?;
        orders = 1;
    }
    for event in events {
        let mut next = world.clone();
        let happened = next.happen(event).map_err(violation);
        let result = happened.and_then(|()| visit(&next, seen));
        orders = orders.saturating_add(result.map_err(|mut violation| {
            violation.events.push(world.show(event, &next));
            violation
        })?);
    }
    seen.insert(state, Some(orders));
    Ok(orders)
}

const fn violation(message: &'static str) -> Violation {
    Violation { message, events: Vec::new() }
}

/// Returns a number that no other of ten million states has, except with a probability below
/// 10^-24. If two had one, a state would not be explored.
fn fingerprint(world: &impl Hash) -> u128 {
    let mut state = Bytes(Vec::with_capacity(1024));
    world.hash(&mut state);
    XxHash3_128::oneshot(&state.0)
}

/// Collects the bytes of a state, to hash them at once.
///
/// MEASURED: with little optimisation, the tests of this crate take 67 s of CPU time instead of 95
/// with the hasher of `HashMap` (machine not recorded).
struct Bytes(Vec<u8>);

impl Hasher for Bytes {
    fn write(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
    }

    fn finish(&self) -> u64 {
        unreachable!("the bytes are hashed elsewhere")
    }
}
