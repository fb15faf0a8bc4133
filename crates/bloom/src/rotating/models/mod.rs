//! loom models of the rotating filter: the claims of the protocol under every interleaving, and
//! planted bugs that the models must find.
//!
//! As in the models of the bits, a property is a function that takes the operation under test. The
//! filters have one place, one stripe and two live generations. The minimum of executions that a
//! model must explore is about half of what it explores now.

mod claims;
mod copies;
mod counts;
mod times;
mod window;

use super::array::Rotating;
use super::plan::Plan;
use super::state::Ring;
use crate::geometry::{Geometry, Kind};
use crate::probe::line::Shape;

/// Words of the place, and bits in them.
type Pattern = &'static [(usize, u64)];

/// Two items that share no bit.
const X: Pattern = &[(1, 0b001)];
const Y: Pattern = &[(1, 0b010)];

const SLOTS: usize = 3;
const GENERATIONS: u64 = 2;

const MISSED: &str = "an item in the window was missed";
const FOUND: &str = "a forgotten item was found";
/// loom itself detects the unordered read under the lock.
const UNORDERED: &str = "Causality violation";

type Rotate = fn(&Rotating);
type Query = fn(&Rotating, Pattern) -> bool;

/// No insert completes a portion, so that only the model rotates.
const PLAN: Plan =
    Plan { items: u64::MAX, generations: 2, stripes: 1, portion: u64::MAX, length: None };

fn new() -> Rotating {
    of_plan(PLAN)
}

fn of_plan(plan: Plan) -> Rotating {
    of_ring(Ring::zeroed(plan, 1).unwrap())
}

fn of_ring(ring: Ring) -> Rotating {
    let (shape, kind) = (Shape { words: 1, probes: 1 }, Kind::Line { once: false });
    Rotating::of_ring(ring, Geometry::of_lines(1, shape, kind))
}

fn insert(filter: &Rotating, pattern: Pattern) -> bool {
    let pattern = pattern.iter().copied();
    !filter.has(SLOTS, 0, pattern.clone(), false) && filter.ring.claim(SLOTS, 0, 0, pattern, false)
}

fn contains(filter: &Rotating, pattern: Pattern) -> bool {
    let live = filter.ring.state().live(SLOTS);
    filter.ring.holders(SLOTS, 0, pattern.iter().copied()) & live != 0
}

fn rotate(filter: &Rotating) {
    filter.ring.rotate();
}

fn rotations(filter: &Rotating) -> u64 {
    filter.ring.state().rotations()
}
