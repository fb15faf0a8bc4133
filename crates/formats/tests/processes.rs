//! Processes insert the same items into one live filter: no item is lost, one insert wins, and a
//! kill harms nobody.
#![cfg(unix)]

mod crew;

use std::fs::File;
use std::path::Path;

use crew::{Board, Role, Winners, until};
use statrs::distribution::{DiscreteCDF, Poisson};
use tamis_bloom::{BlockedBloomFilter, BloomFilter, Geometry, OnceBloomFilter, Verdict as _};
use tamis_formats::{Live, LoadError, MapFile, Options, Parts, SavedBloom, load, save};
use tamis_hash::{HashItem, Rapid};

type Bloom = BloomFilter<u64, Rapid>;
type Blocked = BlockedBloomFilter<u64, Rapid>;
type Once = OnceBloomFilter<u64, Rapid>;

/// Processes that insert at the same time.
const PROCESSES: usize = 4;
const ITEMS: u64 = sample(1_000_000, 10_000_000);
/// Items between two barriers of all processes, so that they keep racing for the same items.
const ROUND: u64 = 10_000;
/// Items of the control.
const FEWER: u64 = 500;

/// Kills of a process that inserts.
const KILLS: u64 = sample(20, 100);
/// Processes of that test: the killed one, one after another, and its neighbours, which nobody
/// kills.
const CROWD: usize = 3;
/// Items that one killed process inserts.
const STRETCH: u64 = 20_000;

/// Returns `long` under `cargo xtask ci --long`, which sets `TAMIS_LONG` for the compiler, else
/// `quick`.
const fn sample(quick: u64, long: u64) -> u64 {
    if option_env!("TAMIS_LONG").is_some() { long } else { quick }
}

fn hasher() -> Rapid {
    Rapid::with_seed(11)
}

fn hash(item: u64) -> u64 {
    hasher().hash_item(&item)
}

/// The once filter of one word, at a rate that it can reach.
fn once(items: u64) -> Geometry {
    let builder = OnceBloomFilter::<u64>::builder().capacity(items as usize);
    builder.words(1).false_positive_rate(1e-2).geometry().unwrap()
}

/// Opens the live filter of a directory. The first process creates it.
fn open<F: SavedBloom<Hasher = Rapid>>(folder: &Path, geometry: Geometry) -> Live<F> {
    let parts = Parts { geometry, capacity: ITEMS as usize, hasher: hasher() };
    let path = folder.join("live");
    let file = Live::<F>::open_or_create_file(path, &parts, &Options::new()).unwrap();
    // SAFETY: no process makes the file shorter.
    Live::open(unsafe { MapFile::new(file) }).unwrap()
}

/// Every process of every test: the program is started again with this test only. Otherwise it does
/// nothing.
#[test]
fn process() {
    let Some(role) = Role::of_this_process() else { return };
    match role.name.as_str() {
        "once" => race::<Once>(&role, once(ITEMS)),
        "bloom" => race::<Bloom>(&role, classic()),
        "blocked" => race::<Blocked>(&role, blocked()),
        "two steps" => two_steps(&role),
        "victim" => be_killed(&role),
        "neighbour" => go_on(&role),
        #[cfg(target_os = "linux")]
        "memfd" => memfd::insert(&role),
        name => panic!("no role {name}"),
    }
}

fn classic() -> Geometry {
    BloomFilter::<u64>::builder().capacity(ITEMS as usize).geometry().unwrap()
}

fn blocked() -> Geometry {
    // Two words per item, so that several processes can win an item.
    let builder = BlockedBloomFilter::<u64>::builder().capacity(ITEMS as usize).words(2);
    builder.false_positive_rate(1e-3).geometry().unwrap()
}

/// What each of four processes does: it inserts all items, in the same order as the others.
fn race<F: SavedBloom<Hasher = Rapid>>(role: &Role, geometry: Geometry) {
    let board = Board::open(&role.folder, PROCESSES, ITEMS);
    let live = open::<F>(&role.folder, geometry);
    for item in 0..ITEMS {
        if item % ROUND == 0 {
            board.wait(1 + item / ROUND);
        }
        if live.insert_hash(hash(item)).verdict().unwrap() {
            board.won(role.number, item);
        }
        assert!(live.contains_hash(hash(item)), "item {item} is lost at once");
    }
    assert!((0..ITEMS).all(|item| live.contains_hash(hash(item))), "a false negative");
}

/// Starts the processes of a role, waits for their ends, and returns their winners.
fn run(role: &str, folder: &Path, items: u64) -> Winners {
    Board::create(folder, PROCESSES, items);
    let all: Vec<_> = (0..PROCESSES).map(|number| Role::start(role, number, folder)).collect();
    for process in all {
        assert!(process.wait().success(), "a process failed: see its message above");
    }
    Board::open(folder, PROCESSES, items).winners(items)
}

/// Returns the numbers of items that may be lost: false positives when they are inserted, in a
/// filter that starts empty.
fn lost_by_chance(geometry: Geometry, items: u64) -> core::ops::RangeInclusive<u64> {
    const STEPS: u64 = 1000;
    let middles = (0..STEPS).map(|step| (2 * step + 1) * items / (2 * STEPS));
    let rates = middles.map(|items| geometry.false_positive_rate_at(items as usize));
    let poisson = Poisson::new(rates.sum::<f64>() * items as f64 / STEPS as f64).unwrap();
    poisson.inverse_cdf(1e-6)..=poisson.inverse_cdf(1.0 - 1e-6)
}

#[test]
fn exactly_one_process_wins_each_item_of_a_once_filter() {
    let folder = tempfile::tempdir().unwrap();
    let winners = run("once", folder.path(), ITEMS);
    assert_eq!((winners.several, winners.one + winners.none), (0, ITEMS), "{winners:?}");
    let expected = lost_by_chance(once(ITEMS), ITEMS);
    assert!(expected.contains(&winners.none), "{winners:?}; {expected:?} may be lost");
    println!("{winners:?}; {expected:?} may be lost");
    let live = open::<Once>(folder.path(), once(ITEMS));
    assert!((0..ITEMS).all(|item| live.by_hash().contains(hash(item))), "a false negative");
}

#[test]
fn at_least_one_process_wins_each_item_of_the_other_filters() {
    for (role, geometry) in [("bloom", classic()), ("blocked", blocked())] {
        let folder = tempfile::tempdir().unwrap();
        let winners = run(role, folder.path(), ITEMS);
        let expected = lost_by_chance(geometry, ITEMS);
        assert!(expected.contains(&winners.none), "{winners:?}; {expected:?} may be lost");
        println!("{role}: {winners:?}; {expected:?} may be lost");
    }
}

/// The control: inserts that decide by an earlier query. All processes query before any inserts, so
/// that all of them win each item whatever cores they have, and the count must find them.
#[test]
fn the_count_finds_several_winners() {
    let folder = tempfile::tempdir().unwrap();
    let winners = run("two steps", folder.path(), FEWER);
    assert_eq!(winners, Winners { none: 0, one: 0, several: FEWER });
}

fn two_steps(role: &Role) {
    let board = Board::open(&role.folder, PROCESSES, FEWER);
    let live = open::<Once>(&role.folder, once(ITEMS));
    for item in 0..FEWER {
        let new = !live.by_hash().contains(hash(item));
        board.wait(1 + item);
        live.by_hash().insert(hash(item));
        if new {
            board.won(role.number, item);
        }
    }
}

/// A process is killed at a random point. The others insert into the filter meanwhile and later;
/// the killed process lost nothing that it inserted, and keeps what it claimed.
#[test]
fn a_killed_process_leaves_a_filter_that_the_others_go_on_using() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let items = KILLS * STRETCH;
    Board::create(folder, CROWD, items);
    let board = Board::open(folder, CROWD, items);
    let live = open::<Once>(folder, once(items));
    let neighbours: Vec<_> =
        (1..CROWD).map(|number| Role::start("neighbour", number, folder)).collect();
    for kill in 0..KILLS {
        // The victim inserts this stretch again and again. Its number is that of its inserts.
        board.publish(0, kill << 32);
        let victim = Role::start("victim", 0, folder);
        let point = hash(kill) % (2 * STRETCH);
        until(|| board.number_of(0) - (kill << 32) > point);
        assert!(!victim.kill().success(), "the victim ended before it was killed");
        // All that it inserted stays, and nobody can claim it again.
        let inserted = (board.number_of(0) - (kill << 32)).min(STRETCH);
        let stretch = kill * STRETCH..(kill + 1) * STRETCH;
        for item in stretch.clone().take(inserted as usize) {
            assert!(live.by_hash().contains(hash(item)), "a killed process lost item {item}");
            assert!(!live.by_hash().insert(hash(item)), "item {item} is claimed twice");
        }
        // The others go on.
        until(|| (1..CROWD).all(|number| board.number_of(number) > kill));
        assert!(
            stretch.clone().all(|item| live.by_hash().contains(hash(item))),
            "a false negative"
        );
        check_copies(folder, &live, 0..stretch.end);
    }
    // The neighbours end after the last stretch.
    for neighbour in neighbours {
        assert!(neighbour.wait().success(), "a neighbour failed: see its message above");
    }
    // A process that was killed after an insert, and before it recorded the answer, has won an item
    // without a record.
    let winners = board.winners(items);
    let expected = lost_by_chance(once(items), items);
    let expected = *expected.start()..=expected.end() + KILLS;
    assert_eq!(winners.several, 0, "{winners:?}");
    assert!(expected.contains(&winners.none), "{winners:?}; {expected:?} may be lost");
    println!("{winners:?}; {expected:?} may be lost");
}

/// Saves the filter while the neighbours may insert, and loads the file, and the live file itself.
fn check_copies(folder: &Path, live: &Live<Once>, items: core::ops::Range<u64>) {
    let saved = folder.join("saved");
    save(&**live, &saved).unwrap();
    let copies: [Once; 2] =
        [load(&saved).unwrap(), Options::new().live(true).load(folder.join("live")).unwrap()];
    for copy in copies {
        assert!(items.clone().all(|item| copy.by_hash().contains(hash(item))), "lost in a copy");
    }
    assert!(matches!(load::<Once>(folder.join("live")), Err(LoadError::Live)));
}

/// What a process does that is to be killed: it never ends.
fn be_killed(role: &Role) {
    let items = KILLS * STRETCH;
    let board = Board::open(&role.folder, CROWD, items);
    let live = open::<Once>(&role.folder, once(items));
    let kill = board.number_of(0) >> 32;
    for number in 0.. {
        let item = kill * STRETCH + number % STRETCH;
        if live.by_hash().insert(hash(item)) {
            assert!(!board.won(role.number, item), "item {item} is claimed twice");
        }
        board.publish(0, (kill << 32) + number + 1);
    }
}

/// What a neighbour does: it inserts each stretch when a victim does. Its number is that of its
/// whole stretches.
fn go_on(role: &Role) {
    let items = KILLS * STRETCH;
    let board = Board::open(&role.folder, CROWD, items);
    let live = open::<Once>(&role.folder, once(items));
    for kill in 0..KILLS {
        until(|| board.number_of(0) > kill << 32);
        for number in 0..STRETCH {
            // One begins at the start, the other at the end.
            let number = if role.number == 1 { number } else { STRETCH - 1 - number };
            let item = kill * STRETCH + number;
            if live.by_hash().insert(hash(item)) {
                assert!(!board.won(role.number, item), "item {item} is claimed twice");
            }
            assert!(live.by_hash().contains(hash(item)), "item {item} is lost at once");
        }
        board.publish(role.number, kill + 1);
    }
}

/// A filter in memory that has no path, and that no process can make shorter: all of it without
/// unsafe code.
#[cfg(target_os = "linux")]
mod memfd {
    use std::os::fd::AsRawFd;

    use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, memfd_create};

    use super::*;

    const SHARED: u64 = 10_000;

    #[test]
    fn processes_share_a_sealed_memfd() {
        let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
        let mut file = File::from(memfd_create("tamis", flags).unwrap());
        let geometry = once(SHARED);
        let parts = Parts { geometry, capacity: SHARED as usize, hasher: hasher() };
        Live::<Once>::init_file(&mut file, &parts, &Options::new()).unwrap();
        assert!(MapFile::sealed(file.try_clone().unwrap()).is_err(), "it has no seal");
        fcntl_add_seals(&file, SealFlags::SHRINK | SealFlags::GROW | SealFlags::SEAL).unwrap();
        // The directory of a process holds its files. The number is that of the file.
        let folder = format!("/proc/{}/fd", std::process::id());
        let number = file.as_raw_fd() as usize;
        let live = Live::<Once>::open(MapFile::sealed(file).unwrap()).unwrap();
        assert!(Role::start("memfd", number, Path::new(&folder)).wait().success());
        assert!((0..SHARED).all(|item| live.by_hash().contains(hash(item))), "a false negative");
        assert!(!(0..SHARED).any(|item| live.by_hash().insert(hash(item))), "claimed twice");
    }

    pub(super) fn insert(role: &Role) {
        let path = role.folder.join(role.number.to_string());
        let file = File::options().read(true).write(true).open(path).unwrap();
        let live = Live::<Once>::open(MapFile::sealed(file).unwrap()).unwrap();
        let won = (0..SHARED).filter(|item| live.by_hash().insert(hash(*item))).count() as u64;
        assert!(lost_by_chance(once(SHARED), SHARED).contains(&(SHARED - won)), "{won} won");
    }
}
