//! Measures saves, loads and mappings: `speed DIR [GIB]`, in a directory on a disk or in memory
//! (`/dev/shm`). `speed map DIR` maps a filter of 4 GiB. `speed save DIR [GIB]` compares saves
//! only, each with a plain write of the same number of bytes in turn.
//!
//! The speed of `memcpy` in the same process is the measure of the others. A load runs in a process
//! of its own, which reports its peak memory.

use std::error::Error;
use std::fs::{self, File};
use std::hint::black_box;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};
use std::{env, io, thread};

use tamis_bloom::BlockedBloomFilter;
use tamis_cuckoo::CuckooFilter;
use tamis_formats::{MapFile, Mappable, Saved, load, map, read, save, write};
use tamis_hash::{HashItem, Rapid};
use tamis_sync::{Ordering, Word};

type Blocked = BlockedBloomFilter<u64, Rapid>;
type Cuckoo = CuckooFilter<u64, Rapid>;

const GIB: u64 = 1 << 30;
/// Items in each filter.
const ITEMS: u64 = 5_000_000;
const RUNS: u32 = 3;
/// Rounds of a comparison, of which the median counts.
const ROUNDS: u32 = 7;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments[..] {
        ["peak", kind, path] => peak(kind, path),
        ["save", folder] => saves(Path::new(folder), GIB),
        ["save", folder, gib] => {
            saves(Path::new(folder), (gib.parse::<f64>()? * GIB as f64) as u64)
        }
        ["map", folder] => map_only(&Path::new(folder).join("speed.tamis")),
        [folder] => run(Path::new(folder), GIB),
        [folder, gib] => run(Path::new(folder), (gib.parse::<f64>()? * GIB as f64) as u64),
        _ => Err("usage: speed DIR [GIB], speed save DIR [GIB], or speed map DIR".into()),
    }
}

fn run(folder: &Path, bytes: u64) -> Result<(), Box<dyn Error>> {
    let path = folder.join("speed.tamis");
    println!("memcpy of {bytes} bytes: {:.2} GB/s", memcpy(bytes as usize));
    println!("write of {bytes} bytes and a sync: {:.2} GB/s", plain_write(&path, bytes)?);
    let blocked = BlockedBloomFilter::<u64>::builder().bits(8 * bytes).probes(6).words(2);
    measure("blocked", filled(blocked.hasher(Rapid::with_seed(1)).build()?), &path)?;
    for (kind, slots, width, buckets) in
        [("cuckoo4x16", 4, 16, bytes / 8), ("cuckoo5x25", 5, 25, bytes / 16)]
    {
        let builder = CuckooFilter::<u64>::builder().buckets(buckets).slots(slots);
        let builder = builder.fingerprint_bits(width).hasher(Rapid::with_seed(1));
        measure(kind, filled::<Cuckoo>(builder.build()?), &path)?;
    }
    Ok(fs::remove_file(&path)?)
}

fn filled<F: Mappable<Hasher = Rapid>>(filter: F) -> F {
    let hashes: Vec<u64> = (0..ITEMS).map(|item| filter.hasher().hash_item(&item)).collect();
    filter.try_insert_hashes(hashes, |_, result| drop(result));
    filter
}

/// Returns the best speed of some runs in GB/s.
fn best<R, E>(bytes: u64, mut run: impl FnMut() -> Result<R, E>) -> Result<f64, E> {
    let mut seconds = f64::INFINITY;
    for _ in 0..RUNS {
        let start = Instant::now();
        let result = black_box(run()?);
        seconds = seconds.min(start.elapsed().as_secs_f64());
        drop(result);
    }
    Ok(bytes as f64 / seconds / 1e9)
}

fn memcpy(bytes: usize) -> f64 {
    let (from, mut to) = (vec![1_u8; bytes], vec![2_u8; bytes]);
    let speed: Result<f64, ()> = best(bytes as u64, || {
        to.copy_from_slice(black_box(&from));
        black_box(&mut to);
        Ok(())
    });
    speed.unwrap_or_default()
}

/// What the disk and the system allow: one copy to the file and a sync, without a checksum.
fn plain_write(path: &Path, bytes: u64) -> io::Result<f64> {
    best(bytes, || write_once(path, bytes))
}

fn write_once(path: &Path, bytes: u64) -> io::Result<()> {
    let chunk = vec![1; 1 << 20];
    let mut file = File::create(path)?;
    for _ in 0..bytes >> 20 {
        io::Write::write_all(&mut file, &chunk)?;
    }
    file.sync_all()
}

/// Compares saves with plain writes that also replace the file, in turn.
fn saves(folder: &Path, bytes: u64) -> Result<(), Box<dyn Error>> {
    let path = folder.join("speed.tamis");
    let blocked = BlockedBloomFilter::<u64>::builder().bits(8 * bytes).probes(6).words(2);
    compare_saves("blocked", &filled(blocked.hasher(Rapid::with_seed(1)).build()?), &path)?;
    for (kind, slots, width, buckets) in
        [("cuckoo4x16", 4, 16, bytes / 8), ("cuckoo5x25", 5, 25, bytes / 16)]
    {
        let builder = CuckooFilter::<u64>::builder().buckets(buckets).slots(slots);
        let filter: Cuckoo =
            filled(builder.fingerprint_bits(width).hasher(Rapid::with_seed(1)).build()?);
        compare_saves(kind, &filter, &path)?;
        compare_saves_while_copies_move(kind, &filter, &path)?;
    }
    Ok(fs::remove_file(&path)?)
}

/// As [`compare_saves`], while another thread removes an item of which both buckets have copies,
/// and inserts it again.
fn compare_saves_while_copies_move(
    kind: &str,
    filter: &Cuckoo,
    path: &Path,
) -> Result<(), Box<dyn Error>> {
    // One more than a bucket holds.
    for _ in 0..=filter.geometry().slots() {
        filter.insert(&u64::MAX)?;
    }
    let done = Word::new(0);
    thread::scope(|scope| {
        scope.spawn(|| {
            // ORDERING: Relaxed: it only ends the loop.
            while done.load(Ordering::Relaxed) == 0 {
                assert!(filter.remove(&u64::MAX) && filter.insert(&u64::MAX).is_ok());
                thread::sleep(Duration::from_micros(50));
            }
        });
        let result = compare_saves(&format!("{kind}, while copies move"), filter, path);
        // ORDERING: Relaxed, likewise.
        done.store(1, Ordering::Relaxed);
        result
    })
}

fn compare_saves<F: Saved<Hasher = Rapid>>(
    kind: &str,
    filter: &F,
    path: &Path,
) -> Result<(), Box<dyn Error>> {
    let bytes = filter.size_in_bytes();
    let temporary = path.with_extension("plain");
    let (mut plain, mut saved) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        let start = Instant::now();
        write_once(&temporary, bytes)?;
        fs::rename(&temporary, path)?;
        plain.push(start.elapsed().as_secs_f64());
        let start = Instant::now();
        save(filter, path)?;
        saved.push(start.elapsed().as_secs_f64());
    }
    // The quotient of each round, since a disk has slow rounds.
    let mut ratio: Vec<f64> =
        plain.iter().zip(&saved).map(|(plain, saved)| plain / saved).collect();
    let speed = |seconds: &mut Vec<f64>| bytes as f64 / median(seconds) / 1e9;
    println!(
        "{kind}: plain write {:.2} GB/s, save {:.2} GB/s, save/plain {:.2}",
        speed(&mut plain),
        speed(&mut saved),
        median(&mut ratio)
    );
    Ok(())
}

fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn measure<F: Mappable<Hasher = Rapid>>(
    kind: &str,
    filter: F,
    path: &Path,
) -> Result<(), Box<dyn Error>> {
    let bytes = filter.size_in_bytes();
    let saved = best(bytes, || save(&filter, path))?;
    let mut stream = Vec::with_capacity(bytes as usize + (1 << 20));
    let written = best(bytes, || {
        stream.clear();
        write(&filter, &mut stream)
    })?;
    let from_stream = best(bytes, || read::<F>(&stream[..]))?;
    drop(stream);
    let contained = filter.contains_hash(filter.hasher().hash_item(&7_u64));
    drop(filter);
    let loaded = best(bytes, || load::<F>(path))?;
    let verified = best(bytes, || mapped::<F>(path)?.verify())?;
    println!(
        "{kind}: save {saved:.2} GB/s, load {loaded:.2}, write {written:.2}, read {from_stream:.2}, verify {verified:.2}"
    );
    map_once::<F>(kind, path, contained)?;
    let peak = Command::new(env::current_exe()?).args(["peak", kind]).arg(path).output()?;
    print!("{kind}: {}", String::from_utf8(peak.stdout)?);
    Ok(())
}

/// Prints the times of a new mapping and of its first query.
fn map_once<F: Mappable<Hasher = Rapid>>(
    kind: &str,
    path: &Path,
    contained: bool,
) -> Result<(), Box<dyn Error>> {
    let start = Instant::now();
    let mapping = mapped::<F>(path)?;
    let map_time = start.elapsed();
    let hit = mapping.contains_hash(mapping.hasher().hash_item(&7_u64));
    let query_time = start.elapsed() - map_time;
    assert_eq!(hit, contained);
    println!("{kind}: map {map_time:.0?}, first query {query_time:.0?}");
    Ok(())
}

/// Maps a filter of 4 GiB.
fn map_only(path: &Path) -> Result<(), Box<dyn Error>> {
    let builder = BlockedBloomFilter::<u64>::builder().bits(32 * GIB).probes(6);
    let filter = filled(builder.hasher(Rapid::with_seed(1)).build()?);
    save(&filter, path)?;
    drop(filter);
    for _ in 0..RUNS {
        map_once::<Blocked>("4 GiB, blocked", path, true)?;
    }
    Ok(fs::remove_file(path)?)
}

fn mapped<F: Mappable>(path: &Path) -> Result<tamis_formats::Mapped<F>, tamis_formats::LoadError> {
    // SAFETY: this program made the file, and does not make it shorter while it is mapped.
    map(unsafe { MapFile::new(File::open(path)?) })
}

/// Loads a filter and prints the peak memory.
fn peak(kind: &str, path: &str) -> Result<(), Box<dyn Error>> {
    let before = peak_memory()?;
    let size = if kind == "blocked" {
        load::<Blocked>(path)?.size_in_bytes()
    } else {
        load::<Cuckoo>(path)?.size_in_bytes()
    };
    let more = (peak_memory()? - before) as f64 - size as f64;
    println!("peak memory of a load: the filter and {:.1} MiB", more / f64::from(1 << 20));
    Ok(())
}

/// Returns the most memory that this process had, in bytes (Linux).
fn peak_memory() -> Result<u64, Box<dyn Error>> {
    let status = fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kib = line.and_then(|line| line.trim().strip_suffix(" kB")).ok_or("no VmHWM")?;
    Ok(1024 * kib.trim().parse::<u64>()?)
}
