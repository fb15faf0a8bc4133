//! The measurements on one thread: filters on the course, in turn, so that a disturbance of the
//! machine affects all of them.

use super::plan::Plan;
use super::setup::Setup;
use crate::contender::{self, Contender};
use crate::course::Course;
use crate::operation::Operation;
use crate::record::{Record, Runs};

/// Returns the contenders of these names.
pub(super) fn named(names: &[&str]) -> Vec<Contender> {
    let all = contender::all();
    let named = |name: &&str| all.iter().find(|contender| contender.traits.name == *name).copied();
    names.iter().filter_map(named).collect()
}

/// Measures the times of all operations.
pub(super) fn measure(plans: &[Plan], setup: &Setup) -> Vec<Record> {
    let mut runs = Runs::default();
    for plan in plans {
        let contenders = named(plan.contenders);
        for items in setup.sizes(plan.items) {
            for &rate in plan.rates {
                for _ in 0..setup.passes(items) {
                    for contender in &contenders {
                        pass(plan, contender, (items, rate), setup, &mut runs);
                    }
                }
            }
        }
    }
    runs.fastest()
}

/// Measures one fill of a filter, and its operations.
fn pass(
    plan: &Plan,
    contender: &Contender,
    (items, rate): (u64, f64),
    setup: &Setup,
    runs: &mut Runs,
) {
    // Far below the lowest rate of a filter, its figures compare with no other's.
    if 4.0 * rate < contender.traits.lowest {
        return;
    }
    let Some(mut course) = Course::new(contender, items, rate, plan.growth) else { return };
    for &operation in plan.operations.iter().filter(|&&operation| contender.can(operation)) {
        let least = setup.least();
        // Writes are whole fills. Queries of a filter that is filled once are repeated.
        let once = setup.passes(items) == 1 && !operation.writes();
        let count = if operation.writes() { items * least.div_ceil(items) } else { least };
        for _ in 0..if once { 3 } else { 1 } {
            let nanos = course.run(operation, count).as_nanos() as f64 / count as f64;
            let record = Record::new(contender.traits.name, operation.name(), items, rate);
            let missed = operation == Operation::Miss;
            let measured_rate = course.measured_rate().filter(|_| missed);
            runs.add(Record { bits: Some(course.bits()), measured_rate, ..record }, nanos);
        }
    }
}

/// Measures the memory of every filter at every rate.
pub(super) fn bits(plan: &Plan) -> Vec<Record> {
    let mut contenders = named(plan.contenders);
    contenders.retain(|contender| !contender.traits.memory);
    let mut records = Vec::new();
    for Contender { traits, make, .. } in contenders {
        for &rate in plan.rates.iter().filter(|&&rate| rate >= traits.lowest) {
            let items = plan.items[0];
            if let Some(filter) = make(items, rate) {
                let bits = filter.bytes() as f64 * 8.0 / items as f64;
                records.push(Record::new(traits.name, "memory", items, rate).of(bits, "bits"));
            }
        }
    }
    records
}

#[cfg(all(test, feature = "peers"))]
mod tests {
    use super::*;
    use crate::measure::plan;

    #[test]
    fn every_name_of_a_plan_is_a_contender() {
        let plans = [plan::ONE_THREAD, plan::CHAINS, plan::REMOVING, plan::THREADS];
        for plan in plans.into_iter().flatten().chain([&plan::BITS]) {
            assert_eq!(named(plan.contenders).len(), plan.contenders.len(), "{plan:?}");
        }
    }
}
