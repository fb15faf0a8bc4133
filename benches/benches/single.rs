//! Single operations of every contender and the limits of the memory, at the sizes of the caches.
//!
//! With `TAMIS_BENCH_DRAM` set there is a size of about 1 GiB, which takes minutes to fill.

use criterion::measurement::WallTime;
use criterion::{
    BenchmarkGroup, Criterion, SamplingMode, Throughput, criterion_group, criterion_main,
};
use tamis_benches::contender::{self, Contender, RATE, Size};
use tamis_benches::course::Course;
use tamis_benches::floor::Floor;
use tamis_benches::item::Distribution;
use tamis_benches::operation::Operation;

/// Benches every operation of a contender.
fn operations(contender: &Contender<u64>, capacity: u64, group: &mut BenchmarkGroup<'_, WallTime>) {
    let new = || Course::new(contender, capacity, Size::Rate(RATE), Distribution::Uniform);
    // Exact sets of the largest size do not exist.
    if new().is_none() {
        return;
    }
    // Filled when a bench needs it: a bench that is filtered out costs nothing.
    let mut course = None;
    for operation in Operation::ALL.into_iter().filter(|&operation| contender.can(operation)) {
        let name = format!("{}/{}", operation.name(), contender.traits.name);
        group.bench_function(name, |bencher| {
            let course = course.get_or_insert_with(|| new().expect("a filter as before"));
            bencher.iter_custom(|count| course.run(operation, count));
        });
    }
}

fn floors(capacity: u64, group: &mut BenchmarkGroup<'_, WallTime>) {
    let mut floor = None;
    let new = || Floor::of_blocked(capacity, RATE);
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
    let mut sizes = vec![("L2", 100_000), ("L3", 10_000_000)];
    if std::env::var_os("TAMIS_BENCH_DRAM").is_some() {
        sizes.push(("DRAM", 800_000_000));
    }
    for (name, capacity) in sizes {
        let mut group = criterion.benchmark_group(name);
        group.throughput(Throughput::Elements(1)).sampling_mode(SamplingMode::Flat).sample_size(20);
        floors(capacity, &mut group);
        let all = contender::all().into_iter().chain(contender::exclusive());
        for contender in all.chain(contender::called()) {
            operations(&contender, capacity, &mut group);
        }
    }
}

criterion_group!(benches, single);
criterion_main!(benches);
