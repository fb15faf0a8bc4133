//! The axes of several threads on one filter, in wall time.
//!
//! Filters have 1,000,000 items and more: a smaller one is full before all threads have begun.
//! Cuckoo filters have smaller sizes, too, which are filled repeatedly.

use core::time::Duration;
use std::io;

use crate::contender::{self, BEST, RATE};
use crate::item::Distribution::{Hot, Uniform};
use crate::measure::survey::{Row, Rows, Survey};
use crate::measure::team::Team;
use crate::operation::Operation::{Hit, Insert, InsertMany, Miss, Mixed, Remove};

/// The sizes for cuckoo filters, 0.25 to 128 MiB: about 90 % of a power of two, to which a peer
/// rounds up.
const CUCKOO: [u64; 4] = [117_000, 940_000, 7_500_000, 60_000_000];

/// The rate of buckets of 4 slots of 16 bits.
const CUCKOO_RATE: f64 = 2.5e-4;

/// Measures runs of teams of all contenders at the first size, which is the only one at the quick
/// scale, and of teams of the best at the second.
fn teams(
    survey: &mut Survey,
    axis: &'static str,
    run: impl Fn(&Team, &Survey, &mut Rows),
) -> io::Result<()> {
    let all = contender::all();
    let best = contender::named(&all, &BEST);
    for (items, contenders) in survey.scale.sizes(&[(1_000_000, all), (10_000_000, best)], 1) {
        let pass = |survey: &Survey, rows: &mut Rows| {
            let team = |contender| Team::of(contender, axis, *items, RATE, survey);
            contenders.iter().filter_map(team).for_each(|team| run(&team, survey, rows));
        };
        survey.passes(survey.scale.runs, pass, Row::fastest)?;
    }
    Ok(())
}

/// Measures more and more threads.
pub(super) fn threads(survey: &mut Survey) -> io::Result<()> {
    teams(survey, "threads", |team, survey, rows| {
        team.works(survey, &[Insert, Hit, Mixed].map(|of| (of, Uniform)), rows);
    })
}

/// Measures readers with and without one writer, which inserts.
pub(super) fn during_writes(survey: &mut Survey) -> io::Result<()> {
    teams(survey, "readers", |team, survey, rows| {
        if !survey.has_all(&team.reader_records(true, false)) {
            team.readers(true, false, rows);
        }
    })
}

/// Measures cuckoo filters where threads insert and remove, and readers while one thread does so;
/// and the limits of the memory for the same.
pub(super) fn cuckoo_threads(survey: &mut Survey) -> io::Result<()> {
    let names = ["cuckoo", "once cuckoo", "atomic-cuckoo-filter"];
    let contenders = contender::named(&contender::all(), &names);
    let mut works = [Insert, InsertMany, Hit, Miss, Remove].map(|of| (of, Uniform)).to_vec();
    works.push((Hit, Hot));
    let of_memory = [(Insert, Uniform), (Hit, Uniform)];
    for &items in survey.scale.sizes(&CUCKOO, 2) {
        // The largest is measured once, as filling it takes most of the time.
        let runs = if items < CUCKOO[3] { survey.scale.runs } else { 1 };
        let pass = |survey: &Survey, rows: &mut Rows| {
            let of = |axis, contender| Team::of(contender, axis, items, CUCKOO_RATE, survey);
            for team in contenders.iter().filter_map(|contender| of("cuckoo_threads", contender)) {
                team.works(survey, &works, rows);
                if team.name == names[0] {
                    team.memory(Duration::ZERO).works(survey, &of_memory, rows);
                }
            }
            for team in contenders.iter().filter_map(|contender| of("cuckoo_readers", contender)) {
                for hits in [true, false].into_iter().filter(|_| team.removes) {
                    // The memory gets the same number of writes per second as our filter, while
                    // readers read two lines per query.
                    let memory = hits && team.name == names[0];
                    let wanted = |team: &Team| !survey.has_all(&team.reader_records(hits, true));
                    let measure = wanted(&team) || memory && wanted(&team.memory(Duration::ZERO));
                    if !measure {
                        continue;
                    }
                    let writing = team.readers(hits, true, rows);
                    if let Some(writing) = writing.filter(|_| memory) {
                        let memory = team.memory(Duration::from_nanos(writing as u64));
                        memory.readers(hits, true, rows);
                    }
                }
            }
        };
        survey.passes(runs, pass, Row::fastest)?;
    }
    Ok(())
}
