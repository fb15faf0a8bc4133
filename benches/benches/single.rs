//! Single operations of every contender and of the bare memory, at the sizes of the caches.
//!
//! With `TAMIS_BENCH_DRAM` set there is a size of about 1 GiB, which takes minutes to fill.

use criterion::measurement::WallTime;
use criterion::{
    BenchmarkGroup, Criterion, SamplingMode, Throughput, criterion_group, criterion_main,
};
use tamis_benches::contender::{self, Contender};
use tamis_benches::course::Course;
use tamis_benches::operation::Operation;

/// Benches every operation of a contender.
fn operations(contender: &Contender, items: u64, group: &mut BenchmarkGroup<'_, WallTime>) {
    let new = || Course::new(contender, items, 0.01, 1);
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

fn single(criterion: &mut Criterion) {
    let mut sizes = vec![("L2", 100_000), ("L3", 10_000_000)];
    if std::env::var_os("TAMIS_BENCH_DRAM").is_some() {
        sizes.push(("DRAM", 800_000_000));
    }
    for (name, items) in sizes {
        let mut group = criterion.benchmark_group(name);
        group.throughput(Throughput::Elements(1)).sampling_mode(SamplingMode::Flat).sample_size(20);
        contender::all().iter().for_each(|contender| operations(contender, items, &mut group));
    }
}

criterion_group!(benches, single);
criterion_main!(benches);
