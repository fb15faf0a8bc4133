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
fn mutant_an_insert_does_not_compare_the_list() {
    mutant(TWO, &race(Defect::NoVersion).faults(ticks(9)));
}

#[test]
fn mutant_growth_does_not_compare_the_list() {
    mutant(TWO, &race(Defect::GrowthNoVersion).faults(ticks(9)));
}

#[test]
fn mutant_a_clock_that_was_set_back_is_waited_for() {
    mutant(LONG, &race(Defect::NoShift).faults(clock(5, 0)));
}

#[test]
fn mutant_epochs_are_forgotten_too_early() {
    mutant(TWO, &race(Defect::ShortLife).faults(ticks(9)));
}

#[test]
fn mutant_a_repeat_refreshes_an_item() {
    mutant(LONG, &race(Defect::Refreshes).faults(ticks(12)));
}

#[test]
fn mutant_a_missing_key_is_an_empty_one() {
    mutant(TWO, &race(Defect::MissingIsEmpty).faults(eviction()));
}

#[test]
fn mutant_an_unknown_verdict_is_repeated() {
    mutant(NONE, &race(Defect::UnknownIsRepeated).faults(losses()));
}

#[test]
fn mutant_keys_expire_without_a_margin() {
    mutant(FALSELY_LOST, &race(Defect::NoMargin).faults(failover(8)));
}

#[test]
fn mutant_a_query_reads_epochs_that_are_due() {
    let world = World::new(Defect::DueIsRead).insert(&[0, 1]).query(1);
    mutant(FALSELY_LOST, &world.faults(ticks(9)));
}

#[test]
fn mutant_a_query_takes_another_clock() {
    let world = World::new(Defect::OtherClock).insert(&[0]).query(1);
    mutant(MISSED, &world.faults(ticks(9)));
}

#[test]
fn mutant_a_query_reads_the_list_first() {
    let world = World::new(Defect::ListFirst).insert(&[0, 1]).query(1);
    mutant(FALSELY_LOST, &world.faults(ticks(9)));
}

/// A growth that a failover has taken back comes again.
#[test]
fn mutant_a_query_reads_the_list_last() {
    let world = World::new(Defect::ListLast).insert(&[0, 1]).query(1);
    mutant(FALSELY_LOST, &world.faults(failover(2)));
}

#[test]
fn mutant_a_lost_shard_waits_for_the_clock() {
    let world = World::new(Defect::LostIsFrozen).insert(&[0, 0]);
    mutant(STUCK, &world.faults(Faults { evictions: 1, ..clock(99, 0) }));
}

#[test]
fn mutant_an_epoch_begins_where_the_last_ended() {
    mutant(TWO, &race(Defect::BeginsLate).faults(ticks(12)));
}
