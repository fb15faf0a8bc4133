//! Single operations of every cuckoo filter at half and nearly full, beside the limits of the memory.

use core::time::Duration;

use criterion::measurement::WallTime;
use criterion::{
    BenchmarkGroup, Criterion, SamplingMode, Throughput, criterion_group, criterion_main,
};
use tamis_benches::cuckoo::course::Course;
use tamis_benches::cuckoo::{self, Cuckoo, Visitor};
use tamis_benches::floor::Floor;

const LOADS: [(f64, &str); 2] = [(0.5, "50 %"), (0.9, "90 %")];

/// Benches every operation of a filter.
struct Operations<'a, 'b> {
    slots: u64,
    group: &'a mut BenchmarkGroup<'b, WallTime>,
}

impl Visitor for Operations<'_, '_> {
    fn visit<C: Cuckoo>(&mut self) {
        for (load, at) in LOADS {
            // The loads at which a shape of ours is not meant to be.
            if load > C::FULL {
                continue;
            }
            let new = || {
                let mut course = Course::<C>::new(self.slots);
                course.insert_to(course.items_at(load));
                course
            };
            // Made when a bench asks for it: one that is filtered out costs nothing.
            let mut course = None;
            self.group.bench_function(format!("hit at {at}/{}", C::NAME), |bencher| {
                let course = course.get_or_insert_with(new);
                bencher.iter_custom(|count| course.hit(count));
            });
            self.group.bench_function(format!("miss at {at}/{}", C::NAME), |bencher| {
                let course = course.get_or_insert_with(new);
                bencher.iter_custom(|count| course.miss(0, count).0);
            });
            if !C::REMOVES {
                continue;
            }
            self.group.bench_function(format!("insert at {at}/{}", C::NAME), |bencher| {
                let course = course.get_or_insert_with(new);
                bencher.iter_custom(|count| turns(course, count).0);
            });
            self.group.bench_function(format!("remove at {at}/{}", C::NAME), |bencher| {
                let course = course.get_or_insert_with(new);
                bencher.iter_custom(|count| turns(course, count).1);
            });
        }
    }
}

/// The times of `count` inserts and as many removes, a few at a time so that the load stays.
fn turns<C: Cuckoo>(course: &mut Course<C>, count: u64) -> (Duration, Duration) {
    let len = course.len();
    let few = len / 256;
    let (mut inserting, mut removing) = (Duration::ZERO, Duration::ZERO);
    let mut left = count;
    while left > 0 {
        let now = left.min(few);
        inserting += course.insert_to(len + now);
        removing += course.remove(now);
        left -= now;
    }
    (inserting, removing)
}

fn floors(slots: u64, group: &mut BenchmarkGroup<'_, WallTime>) {
    let mut floor = None;
    let new = || Floor::new(slots * 2);
    group.bench_function("floor/R", |bencher| {
        let floor = floor.get_or_insert_with(new);
        bencher.iter_custom(|count| floor.read(count));
    });
    group.bench_function("floor/W", |bencher| {
        let floor = floor.get_or_insert_with(new);
        bencher.iter_custom(|count| floor.write(count));
    });
}

fn single(criterion: &mut Criterion) {
    for (name, slots) in [("cuckoo, L2", 1 << 17), ("cuckoo, L3", 1 << 23)] {
        let mut group = criterion.benchmark_group(name);
        group.throughput(Throughput::Elements(1)).sampling_mode(SamplingMode::Flat).sample_size(20);
        floors(slots, &mut group);
        cuckoo::each(&mut Operations { slots, group: &mut group });
    }
}

criterion_group!(benches, single);
criterion_main!(benches);
