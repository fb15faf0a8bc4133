//! A filter with another seed, hash, geometry or policy is refused in one line, which names the
//! next command.

use tamis::hash::Xxh3;

use super::*;

/// Each command that cannot use a filter, and all that it says.
#[test]
fn each_mismatch_is_2_and_names_the_next_command() {
    let files = Files::new();
    files.write("in", "http://a.example/\n");
    let build = |name, more: &[&str]| {
        files.run(&[&["build", "-q", "-o", name, "in"], more].concat());
    };
    build("f", &["--capacity", "1000", "--rate", "1e-4"]);
    build("large", &["--capacity", "5000", "--rate", "1e-4"]);
    build("rate", &["--capacity", "1000", "--rate", "1e-5"]);
    build("kind", &["--capacity", "1000", "--rate", "1e-4", "--kind", "once"]);
    build("seed", &["--capacity", "1000", "--rate", "1e-4", "--seed", "1"]);
    build("keyed", &["--capacity", "1000", "--rate", "1e-4", "--seed", "random"]);
    build("url", &["--capacity", "1000", "--rate", "1e-4", "--url", "crawl-1"]);
    build("cuckoo", &["--capacity", "1000", "--rate", "1e-4", "--kind", "cuckoo"]);
    files.run(&["new", "-q", "table", "in"]);
    files.run(&["new", "-q", "table9", "in", "--capacity", "9M"]);
    files.run(&["new", "-q", "tableseed", "in", "--seed", "9"]);
    files.run(&["index", "-q", "-o", "index", "in", "--url", "crawl-1"]);
    // A file that another hash function of the same name and seed would write.
    let mut bytes = files.read("f");
    bytes[48] ^= 1;
    let checksum = Xxh3::with_seed(0).hash_bytes(&bytes[..248]);
    bytes[248..256].copy_from_slice(&checksum.to_le_bytes());
    files.write("hash", bytes);
    let before: Vec<_> = ["f", "table"].iter().map(|name| files.read(name)).collect();

    for (args, expected) in MISMATCHES {
        let args: Vec<&str> = args.split(' ').collect();
        let text = files.refused(2, &args);
        assert_eq!(text, format!("tamis: {expected}\n"), "{args:?}");
        assert!(!files.path("out").exists() && !files.path("f.lock").exists());
    }
    let after: Vec<_> = ["f", "table"].iter().map(|name| files.read(name)).collect();
    assert!(after == before);
}

/// Commands and messages.
const MISMATCHES: &[(&str, &str)] = &[
    // Policy.
    (
        "query url in",
        "url: its items were normalised with --url crawl-1, but this command has --url none; run: tamis query --url crawl-1 url in",
    ),
    (
        "query url in --url whatwg-1",
        "url: its items were normalised with --url crawl-1, but this command has --url whatwg-1; run: tamis query --url crawl-1 url in",
    ),
    (
        "query --url=crawl-1 f in",
        "f: its items were normalised with --url none, but this command has --url crawl-1; run: tamis query f in",
    ),
    (
        "new url in",
        "url: its items were normalised with --url crawl-1, but this command has --url none; run: tamis new --url crawl-1 url in",
    ),
    (
        "new f in --url crawl-1",
        "f: its items were normalised with --url none, but this command has --url crawl-1; run: tamis new f in",
    ),
    (
        "remove cuckoo in --url crawl-1",
        "cuckoo: its items were normalised with --url none, but this command has --url crawl-1; run: tamis remove cuckoo in",
    ),
    (
        "which index http://a.example/",
        "index: its items were normalised with --url crawl-1, but this command has --url none; run: tamis which --url crawl-1 index http://a.example/",
    ),
    (
        "merge -o out f url",
        "url: has the URL policy crawl-1, but f has none; to merge them, build each of them again with room for the records of all: tamis build -o NEW --kind blocked --capacity 2000 --rate 9.8e-5 FILE...",
    ),
    (
        "merge -o out url f",
        "f: has the URL policy none, but url has crawl-1; to merge them, build each of them again with room for the records of all: tamis build -o NEW --kind blocked --capacity 2000 --rate 9.8e-5 --url crawl-1 FILE...",
    ),
    // Seed.
    ("new f in --seed 1", "f: has another seed than --seed; run: tamis new f in"),
    ("new --seed=1 table in", "table: has another seed than --seed; run: tamis new table in"),
    (
        "merge -o out f seed",
        "seed: has another seed than f; to merge them, build each of them again with room for the records of all: tamis build -o NEW --kind blocked --capacity 2000 --rate 9.8e-5 FILE...",
    ),
    (
        "merge -o out table tableseed",
        "tableseed: has another seed than table; to merge them, create it again as table, with the same --seed: tamis new NEW FILE...",
    ),
    // Hash.
    (
        "query hash in",
        "hash: the file was written with another hash function: its hash probe is 0x3b57d11bfcd66ad7, and here the same algorithm and seed give 0x3b57d11bfcd66ad6; build the filter again from its records with 'tamis build'",
    ),
    (
        "new hash in",
        "hash: the file was written with another hash function: its hash probe is 0x3b57d11bfcd66ad7, and here the same algorithm and seed give 0x3b57d11bfcd66ad6; build the filter again from its records with 'tamis build'",
    ),
    (
        "remove hash in",
        "hash: the file was written with another hash function: its hash probe is 0x3b57d11bfcd66ad7, and here the same algorithm and seed give 0x3b57d11bfcd66ad6; build the filter again from its records with 'tamis build'",
    ),
    (
        "merge -o out f hash",
        "hash: the file was written with another hash function: its hash probe is 0x3b57d11bfcd66ad7, and here the same algorithm and seed give 0x3b57d11bfcd66ad6; build the filter again from its records with 'tamis build'",
    ),
    (
        "merge -o out f keyed",
        "keyed: has the hash siphash-1-3, but f has rapidhash-v3; to merge them, build each of them again with room for the records of all: tamis build -o NEW --kind blocked --capacity 2000 --rate 9.8e-5 FILE...",
    ),
    (
        "new f in --seed random",
        "f: has the hash rapidhash-v3, but --seed stands for siphash-1-3; run: tamis new f in",
    ),
    (
        "merge -o out keyed f",
        "f: has another hash than keyed, whose key is random; to merge them, build each of them again with one number as their --seed: tamis build -o NEW --kind blocked --capacity 2000 --rate 9.8e-5 --seed NUMBER FILE...",
    ),
    // Geometry.
    (
        "merge -o out f large",
        "large: has a geometry of 16000 bytes for 5000 items, but f has 3200 bytes for 1000 items; to merge them, build each of them again with room for the records of all: tamis build -o NEW --kind blocked --capacity 6000 --rate 9.8e-5 FILE...",
    ),
    (
        "merge -o out f rate",
        "rate: has a geometry of 3840 bytes for 1000 items, but f has 3200 bytes for 1000 items; to merge them, build each of them again with room for the records of all: tamis build -o NEW --kind blocked --capacity 2000 --rate 9.7e-6 FILE...",
    ),
    (
        "merge -o out table table9",
        "table9: is a table that was created with another --capacity, or without one, than those before it; to merge them, create it again with theirs: tamis new NEW FILE...",
    ),
    (
        "new f in --capacity 2000",
        "f: has a capacity of 1,000, but --capacity is 2,000; run: tamis new f in",
    ),
    (
        "new f in --capacity 1000 --rate 1e-5",
        "f: has a rate of 9.9e-5 at its capacity, but --rate is 1.0e-5; run: tamis new f in",
    ),
    // Kind.
    (
        "merge -o out f kind",
        "kind: has the type OnceBloomFilter, but f has BlockedBloomFilter; to merge them, build each of them again with room for the records of all: tamis build -o NEW --kind blocked --capacity 2000 --rate 9.0e-5 FILE...",
    ),
    (
        "merge -o out table f",
        "f: has the type BlockedBloomFilter, but table has table; to merge them, create it again as table, with the same --seed: tamis new NEW FILE...",
    ),
    (
        "new f in --kind once --capacity 1000",
        "f: is a BlockedBloomFilter, but --kind is once; run: tamis new f in",
    ),
    (
        "new table in --kind bloom --capacity 9",
        "table: is a table, but --kind is bloom; run: tamis new table in",
    ),
    (
        "remove f in",
        "f: is a BlockedBloomFilter, from which nothing can be removed: one bit may stand for several records; a filter of --kind cuckoo, counting or scalable-cuckoo can remove: tamis build -o NEW --kind cuckoo FILE...",
    ),
    (
        "remove table in",
        "table: is a table, from which nothing can be removed: one fingerprint may stand for several records; a filter of --kind cuckoo, counting or scalable-cuckoo can remove: tamis build -o NEW --kind cuckoo FILE...",
    ),
];

/// The sizes of filters that grow are those that do not change, and the command to build them again
/// begins with as many items as these began with, not with all that they may hold.
#[test]
fn filters_that_grow_can_be_built_again_to_be_merged() {
    let files = Files::new();
    files.write("in", "a\nb\n");
    let build = |name: &str, more: &[&str]| {
        let kind = ["build", "-q", "-o", name, "in", "--kind", "scalable-cuckoo"];
        files.run(&[&kind, more].concat());
    };
    build("one", &["--capacity", "1000", "--rate", "1e-4"]);
    build("other", &["--capacity", "1000", "--rate", "1e-5"]);
    let merge = ["merge", "-o", "out", "one", "other"];
    let text = files.refused(2, &merge);
    let (ours, theirs) = text.split_once(", but one has ").expect("both sizes");
    let ours = ours.strip_prefix("tamis: other: has a geometry of ").expect("sizes");
    assert!(!theirs.starts_with(ours), "{text}");
    assert!(ours.contains(" buckets of ") && theirs.contains(" at first, at most "), "{text}");
    let (_, next) = text.split_once(": tamis build -o NEW ").expect("a command");
    let words: Vec<&str> = next.split_whitespace().collect();
    let [_, kind, _, capacity, _, rate, _] = words[..] else { panic!("{text}") };
    assert_eq!((kind, capacity), ("scalable-cuckoo", "2000"), "{text}");
    for name in merge[3..].iter().copied() {
        build(name, &["--capacity", capacity, "--rate", rate]);
    }
    files.run(&merge);
    let info = files.info("out");
    assert!(info["capacity"].as_u64() >= Some(2 * 1000 * 1024), "{info}");
}

/// What limits the rate of a cuckoo filter that grows is not the hash.
#[test]
fn a_rate_that_growth_does_not_keep_names_the_lowest() {
    let files = Files::new();
    files.write("in", "a\n");
    let build = |capacity: &str, rate: &str| {
        let kind = ["build", "-q", "-o", "f", "in", "--kind", "scalable-cuckoo"];
        let sizes = ["--capacity", capacity, "--rate", rate];
        said(&files.tamis(&kind).args(sizes).assert())
    };
    let text = build("1000", "1e-13");
    let (_, lowest) = text.split_once("to twice this number is at least ").expect("the reason");
    assert!(text.contains("the rate of a cuckoo filter") && !text.contains("hashes"), "{text}");
    let (lowest, _) = lowest.split_once("; raise --rate").expect("the next step");
    assert_eq!(build("1000", lowest), "");
    // No rate helps.
    for kind in ["cuckoo", "scalable-cuckoo", "scalable"] {
        let args = ["build", "-o", "f", "in", "--capacity", "18446744073709551615", "--kind", kind];
        let text = files.refused(2, &args);
        assert!(text.contains("too large for any machine; lower --capacity"), "{text}");
    }
}

/// The rate of a filter that grows in place is compared too, as far as whole bits give it.
#[test]
fn another_rate_of_a_filter_that_grows_is_a_mismatch() {
    let files = Files::new();
    files.write("in", "a\n");
    for rate in ["0.5", "0.2", "1e-2", "1e-3", "3e-6"] {
        for capacity in ["1", "1000", "70000"] {
            let name = &*format!("{rate}.{capacity}");
            let new = |asked| {
                let sizes = ["--kind", "scalable-cuckoo", "--capacity", capacity, "--rate", asked];
                [&["new", "-q", name, "in"], &sizes[..]].concat()
            };
            assert_eq!([0; 2].map(|_| files.run(&new(rate)).0), ["a\n", ""], "{name}");
            files.fails(2, &new("1e-12"), &["at its last size, but --rate is"]);
        }
    }
}

/// A rate that nobody gave is no mismatch.
#[test]
fn only_the_options_that_are_given_are_compared() {
    let files = Files::new();
    files.write("in", "a\n");
    files.run(&["build", "-q", "-o", "w", "--kind", "rotating", "--window", "100", "in"]);
    files.run(&["build", "-q", "-o", "b", "--capacity", "1000", "--rate", "1e-3", "in"]);
    assert_eq!(files.run(&["new", "-q", "w", "in", "--window", "100"]).0, "");
    let blocked = ["new", "-q", "b", "in", "--kind", "blocked", "--capacity", "1000"];
    assert_eq!(files.run(&blocked).0, "");
}

/// Options that the filter was created with are no mismatch.
#[test]
fn the_options_of_the_first_run_can_be_repeated() {
    let files = Files::new();
    files.write("in", "a\n");
    for (number, options) in [
        &[][..],
        &["--capacity", "1000"],
        &["--capacity", "1000", "--seed", "7"],
        &["--capacity", "1000", "--kind", "cuckoo"],
        &["--capacity", "1000", "--rate", "1e-3"],
        &["--capacity", "1000", "--rate", "1e-3", "--kind", "bloom"],
        &["--capacity", "1000", "--rate", "1e-3", "--kind", "cuckoo"],
        &["--capacity", "1000", "--rate", "1e-9", "--kind", "once"],
    ]
    .iter()
    .enumerate()
    {
        let name = &*format!("f{number}");
        let run = || files.run(&[&["new", "-q", name, "in"], *options].concat()).0;
        assert_eq!((&*run(), &*run()), ("a\n", ""), "{options:?}");
    }
    // A filter of 'build', and a table that has grown.
    for kind in KINDS {
        let options = ["--kind", kind, "--capacity", "1000", "--rate", "1e-3"];
        files.run(&[&["build", "-q", "-o", kind, "in"], &options[..]].concat());
        assert_eq!(files.run(&[&["new", "-q", kind, "in"], &options[..]].concat()).0, "");
    }
    for options in [&["--capacity", "9"][..], &["--capacity", "9", "--rate", "1e-6"]] {
        assert_eq!(files.run(&[&["new", "-q", "f0", "in"], options].concat()).0, "");
    }
}
