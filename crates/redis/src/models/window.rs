//! Every interleaving of a few clients of one shard with epochs, while the time passes and the
//! clock is set.
//!
//! The clients decide by `window/round.rs`. The shard does what the scripts do. An epoch lasts for
//! two ticks of the clock, so the span is 6 and the life of an epoch 8.

mod client;
mod shard;
mod world;

use self::world::{Faults, World};
use super::{FALSELY_LOST, MISSED, NONE, NOT_STORED, STUCK, TWO, model, mutant};

const LONG: &str = "an item was remembered for too long";

/// A planted defect.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Defect {
    None,
    /// An insert does not compare the list.
    NoVersion,
    /// Growth does not compare the list.
    GrowthNoVersion,
    /// A clock that was set back is waited for.
    NoShift,
    /// Epochs are forgotten one epoch too early.
    ShortLife,
    /// An item that is there is written into the newest epoch, too.
    Refreshes,
    /// A key that is missing counts as empty.
    MissingIsEmpty,
    /// An insert whose reply was lost is sent again.
    UnknownIsRepeated,
    /// Keys expire when their epoch is due, without a margin for another clock.
    NoMargin,
    /// A query takes epochs that are due.
    DueIsRead,
    /// A query takes the time of a clock that is ahead by an epoch.
    OtherClock,
    /// A query reads the list and the time before the bits, and not again.
    ListFirst,
    /// A query does not read the list before the bits.
    ListLast,
    /// A shard that has lost an epoch does not correct the starts.
    LostIsFrozen,
    /// A new epoch begins where the last ended.
    BeginsLate,
}

/// Three inserts of an item, two of them by one client, and one of another item.
fn race(defect: Defect) -> World {
    World::new(defect).insert(&[0, 0]).insert(&[0]).insert(&[1])
}

/// A query for an item while it is inserted, and another one is.
fn query(defect: Defect) -> World {
    World::new(defect).insert(&[0, 1]).insert(&[1]).query(1)
}

/// The time that passes, without faults.
fn ticks(ticks: u32) -> Faults {
    Faults { ticks, ..Faults::default() }
}

/// A clock that is set once, back or ahead.
fn clock(back: i64, ahead: i64) -> Faults {
    Faults { sets: 1, by: [-back, ahead], ..ticks(9) }
}

fn losses() -> Faults {
    Faults { losses: 2, ..ticks(3) }
}

fn failover(ticks: u32) -> Faults {
    Faults { failovers: 1, ..self::ticks(ticks) }
}

fn eviction() -> Faults {
    Faults { evictions: 1, ..ticks(3) }
}

#[test]
fn model_one_insert_wins_within_the_span_and_no_query_misses_it() {
    let late = World::new(Defect::None).insert(&[0, 1]).query(1).faults(ticks(8));
    let query = query(Defect::None).faults(ticks(4));
    model(900_000_000_000, 170_000, [race(Defect::None).faults(ticks(8)), query, late]);
}

#[test]
fn model_a_clock_that_is_set_freezes_nothing() {
    let inserts = || World::new(Defect::None).insert(&[0, 0]).insert(&[1]);
    let query = World::new(Defect::None).insert(&[0, 1]).query(1);
    let scenes = [
        inserts().faults(clock(5, 3)),
        inserts().faults(clock(1, 9)),
        inserts().faults(clock(99, 10)),
        query.faults(Faults { ticks: 3, ..clock(5, 9) }),
        inserts().faults(Faults { sets: 2, by: [-9, 9], ..ticks(8) }),
    ];
    model(900_000_000_000, 360_000, scenes);
}

#[test]
fn model_a_lost_reply_costs_one_verdict() {
    model(3_000_000, 7000, [race(Defect::None).faults(losses())]);
}

/// The clock of the replica may be off by the margin.
#[test]
fn model_clients_go_on_after_a_failover() {
    let inserts = World::new(Defect::None).insert(&[0, 0]).insert(&[0]).faults(failover(9));
    let query = World::new(Defect::None).insert(&[0, 1]).query(1).faults(failover(2));
    model(1_200_000_000, 300_000, [inserts, query, race(Defect::None).faults(failover(3))]);
}

#[test]
fn model_a_lost_key_is_reported_until_it_is_due() {
    let race = race(Defect::None).faults(eviction());
    model(600_000_000_000, 220_000, [race, query(Defect::None).faults(eviction())]);
}

#[test]
fn model_faults_of_all_kinds_at_once() {
    let faults = Faults { ticks: 1, sets: 1, by: [-3, 8], losses: 1, evictions: 1, failovers: 1 };
    model(
        80_000_000,
        160_000,
        [World::new(Defect::None).insert(&[0, 0]).insert(&[0]).faults(faults)],
    );
}

#[test]
fn mutant_defects_of_inserts_are_found() {
    for (message, defect, faults) in [
        (TWO, Defect::NoVersion, ticks(9)),
        (TWO, Defect::GrowthNoVersion, ticks(9)),
        (LONG, Defect::NoShift, clock(5, 0)),
        (TWO, Defect::ShortLife, ticks(9)),
        (LONG, Defect::Refreshes, ticks(12)),
        (TWO, Defect::MissingIsEmpty, eviction()),
        (NONE, Defect::UnknownIsRepeated, losses()),
        (FALSELY_LOST, Defect::NoMargin, failover(8)),
        (TWO, Defect::BeginsLate, ticks(12)),
    ] {
        mutant(defect, message, &race(defect).faults(faults));
    }
    let defect = Defect::LostIsFrozen;
    let world = World::new(defect).insert(&[0, 0]);
    mutant(defect, STUCK, &world.faults(Faults { evictions: 1, ..clock(99, 0) }));
}

#[test]
fn mutant_defects_of_queries_are_found() {
    for (message, defect, items, faults) in [
        (FALSELY_LOST, Defect::DueIsRead, &[0, 1][..], ticks(9)),
        (MISSED, Defect::OtherClock, &[0], ticks(9)),
        (FALSELY_LOST, Defect::ListFirst, &[0, 1], ticks(9)),
        // A growth that a failover has taken back comes again.
        (FALSELY_LOST, Defect::ListLast, &[0, 1], failover(2)),
    ] {
        mutant(defect, message, &World::new(defect).insert(items).query(1).faults(faults));
    }
}
