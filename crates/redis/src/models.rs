//! Every interleaving of a few clients of one shard, and planted defects that the exploration must
//! find.
//!
//! The shard is in memory, and its commands are atomic, as those of a server. The clients decide by
//! `round.rs` and `search.rs`. All orders of their commands are explored, with failovers, evictions
//! and lost replies among them.
//!
//! A `model` must find no violation, and explore a minimum of orders and states, which is about
//! half of what it explores now. A `mutant` plants a defect, and passes only if the exploration
//! finds the violation.

mod client;
mod counting;
mod explore;
mod lives;
mod shard;
mod window;
mod world;

use core::fmt::Debug;

use self::explore::{Model, explore};
use self::world::{Faults, World};

// What must be true.

const TWO: &str = "two inserts of an item returned `true`";
const NONE: &str = "all inserts of an item returned `false`";
const MISSED: &str = "a query missed an item whose insert had returned";
const UNTAGGED: &str = "a key without a tag gave a verdict";
const FALSELY_LOST: &str = "a shard that is whole was reported as lost";
const NOT_STORED: &str = "an insert stored an item and returned that it did not";
const NO_REASON: &str = "an insert has no verdict, and nothing has failed";
const STUCK: &str = "a new client has the wrong result";
const LOOP: &str = "a client does not end";

/// A planted defect.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Defect {
    None,
    /// An insert takes its verdict from a slice that is closed.
    ClosedIsOpen,
    /// An item goes on from a closed slice even if all of its bits were set there.
    KnownGoesOn,
    /// An insert does not read the closed slices.
    ClosedAreNotRead,
    /// An insert that goes on reads the slice again where it has set its own bits.
    OwnBitsAreRead,
    /// After a failover, an insert does not know where it has set bits.
    RestartForgets,
    /// An error does not know that bits are set.
    ErrorForgets,
    /// An insert whose reply was lost is sent again.
    UnknownIsRepeated,
    /// A query ends at a closed slice.
    QueryStops,
    /// The tag of a key is not checked.
    UntaggedIsOpen,
    /// A slice is created, and then, by a second command, the one before is closed.
    CreatesThenCloses,
    /// A slice is closed, and then, by a second command, the next is created.
    ClosesThenCreates,
    /// Growth does not delete what is in the place of the next slice.
    GrowthKeepsBits,
}

/// Explores scenes. Asserts that none leads to a violation, and the minimum of all orders and
/// states.
fn model<S: Model>(orders: u128, states: usize, scenes: impl IntoIterator<Item = S>) {
    let mut sum = (0_u128, 0);
    for scene in scenes {
        let explored = explore(&scene).unwrap_or_else(|violation| panic!("\n{violation:?}"));
        sum = (sum.0.saturating_add(explored.orders), sum.1 + explored.states);
    }
    assert!(sum.0 >= orders && sum.1 >= states, "only {sum:?} orders and states");
}

/// Asserts that the exploration of a scene with a defect finds a violation.
fn mutant(defect: impl Debug, message: &str, scene: &impl Model) {
    match explore(scene) {
        Ok(explored) => panic!("{defect:?} is not found: {message}, {explored:?}"),
        Err(violation) => assert_eq!(violation.message, message, "{defect:?}\n{violation:?}"),
    }
}

/// Returns the guesses of two clients of a shard that has grown up to a slice. One may know of
/// the next growth: it begins after that.
fn guesses(open: u32) -> impl Iterator<Item = [u32; 2]> {
    (0..=open).flat_map(move |first| (first..=open + 1).map(move |second| [first, second]))
}

/// Two inserts and a query, while the shard grows: by one client twice, if there is room, and by
/// another that comes late.
fn race(open: u32, [first, second]: [u32; 2], defect: Defect) -> World {
    let world = World::new(open, &[first, second, first, open]).defect(defect);
    let world = world.insert(0, &[0]).insert(1, &[0]).query(2);
    world.grow(3, &[0, 1, 2][open as usize..3.min(open as usize + 2)]).grow(3, &[open.min(1)])
}

// 1. Without faults: one winner, nothing is missed.

#[test]
fn model_one_insert_of_an_item_wins_and_no_query_misses_it() {
    let scenes =
        (0..=2).flat_map(|open| guesses(open).map(move |both| race(open, both, Defect::None)));
    model(150_000_000_000_000, 240_000, scenes);
}

#[test]
fn model_three_inserts_of_an_item_have_one_winner() {
    let scene = |guess| {
        let world =
            World::new(1, &[guess, 0, 1, 0]).insert(0, &[0]).insert(1, &[0]).insert(2, &[0]);
        world.grow(3, &[0, 1, 2]).query(3)
    };
    model(100_000_000_000, 90_000, [scene(0), scene(1)]);
}

#[test]
fn model_each_item_of_a_batch_has_one_winner() {
    let scene = |guesses: [u32; 4]| {
        let world = World::new(1, &guesses).insert(0, &[0, 1]).insert(1, &[1, 0]).insert(2, &[0]);
        world.grow(3, &[0, 1]).query(3)
    };
    model(90_000_000, 15_000, [scene([0, 0, 1, 0]), scene([0, 1, 1, 1])]);
}

#[test]
fn model_an_item_that_is_there_has_no_winner() {
    let scene = |open, [first, second]: [u32; 2]| {
        let world = World::new(open, &[first, second, open]).present(open);
        world.insert(0, &[0]).insert(1, &[0]).grow(2, &[open]).query(2)
    };
    model(
        70_000_000,
        1600,
        (0..=2).flat_map(|open| guesses(open).map(move |both| scene(open, both))),
    );
}

/// Inserts of one process share what they know, and read it at any time.
#[test]
fn model_inserts_of_one_process_have_one_winner() {
    let scene = |open, guess| {
        let world = World::new(open, &[guess, open]).late();
        world.insert(0, &[0]).insert(0, &[0]).query(0).grow(1, &[open])
    };
    model(10_u128.pow(20), 170_000, [scene(0, 0), scene(1, 0), scene(2, 1)]);
}

/// Inserts that count grow the shard at once.
#[test]
fn model_inserts_that_count_have_one_winner() {
    let scene = |open, [first, second]: [u32; 2]| {
        let world = World::new(open, &[first, second, open, open]);
        world.insert_counted(0).insert_counted(1).insert(2, &[0]).query(3)
    };
    let scenes = (0..=2).flat_map(|open| guesses(open).map(move |both| scene(open, both)));
    model(20_000_000_000, 27_000, scenes);
}

// 2. With faults.

#[test]
fn model_a_lost_reply_costs_one_verdict() {
    let faults = Faults { losses: 2, ..Faults::default() };
    let scene = |open, both| race(open, both, Defect::None).faults(faults);
    model(200_000_000_000, 220_000, [scene(0, [0, 0]), scene(0, [0, 1]), scene(1, [0, 1])]);
}

#[test]
fn model_clients_recover_from_a_failover() {
    let faults = Faults { failovers: 1, back: 3, ..Faults::default() };
    // A guess may also be ahead, after an earlier failover.
    let scene = |open, guess| {
        let world = World::new(open, &[guess, open]).faults(faults);
        world.insert(0, &[0]).insert(1, &[0]).grow(1, &[open, (open + 1).min(2)]).query(1)
    };
    let scenes = [(0, 0), (0, 1), (1, 0), (1, 1), (2, 1), (2, 2)];
    model(4_500_000_000_000, 118_000, scenes.map(|(open, guess)| scene(open, guess)));
}

#[test]
fn model_a_lost_key_is_reported_and_gives_no_verdict() {
    let faults = Faults { evictions: 1, ..Faults::default() };
    let scene = |open, both| race(open, both, Defect::None).faults(faults);
    model(12_000_000_000_000, 68_000, [scene(0, [0, 0]), scene(1, [1, 1])]);
}

/// A failover may take back the growth of an insert together with its bits.
#[test]
fn model_inserts_that_count_recover_from_a_failover() {
    let faults = Faults { failovers: 1, back: 2, losses: 1, evictions: 0 };
    let scene = |open| {
        let world = World::new(open, &[open, open, open]).faults(faults);
        world.insert_counted(0).insert_counted(1).query(2)
    };
    model(48_000, 1200, [scene(0), scene(1)]);
}

#[test]
fn model_faults_of_all_kinds_at_once() {
    let faults = Faults { failovers: 1, back: 3, losses: 1, evictions: 1 };
    let world = World::new(0, &[0, 0, 0]).faults(faults);
    model(180_000_000, 9000, [world.insert(0, &[0]).insert(1, &[0]).grow(2, &[0, 1])]);
}

// 3. Planted defects.

#[test]
fn mutant_defects_without_a_fault_are_found() {
    for (message, open, guesses, defect) in [
        (TWO, 0, [0, 1], Defect::ClosedIsOpen),
        (TWO, 0, [0, 0], Defect::KnownGoesOn),
        (TWO, 0, [0, 1], Defect::ClosedAreNotRead),
        (NONE, 1, [0, 1], Defect::OwnBitsAreRead),
        (TWO, 0, [1, 1], Defect::CreatesThenCloses),
        (FALSELY_LOST, 0, [0, 0], Defect::ClosesThenCreates),
        (MISSED, 0, [0, 1], Defect::QueryStops),
    ] {
        mutant(defect, message, &race(open, guesses, defect));
    }
}

#[test]
fn mutant_defects_after_a_lost_reply_are_found() {
    let faults = Faults { losses: 1, ..Faults::default() };
    for (message, defect) in [(NONE, Defect::UnknownIsRepeated), (NOT_STORED, Defect::ErrorForgets)]
    {
        mutant(defect, message, &race(0, [0, 0], defect).faults(faults));
    }
}

/// Two inserts and two growths, with a failover.
fn failover(guess: u32, defect: Defect) -> World {
    let faults = Faults { failovers: 1, back: 3, ..Faults::default() };
    let world = World::new(0, &[0, guess, 0]).defect(defect).faults(faults);
    world.insert(0, &[0]).insert(1, &[0]).grow(2, &[0, 1]).grow(2, &[0])
}

#[test]
fn mutant_defects_after_a_failover_are_found() {
    for (message, guess, defect) in [
        (NONE, 0, Defect::RestartForgets),
        (NONE, 1, Defect::GrowthKeepsBits),
        (UNTAGGED, 0, Defect::UntaggedIsOpen),
    ] {
        mutant(defect, message, &failover(guess, defect));
    }
}

/// A known limit. A failover takes a growth back, and the shard grows again, both between two
/// commands of one insert. So the insert does not see what was inserted in between into the
/// slice that was open again.
#[test]
fn growth_that_is_taken_back_and_repeated_during_an_insert_gives_two_winners() {
    mutant(Defect::None, TWO, &failover(0, Defect::None).strict());
}
