//! Every command on files of every kind.

use super::*;

/// A kind, and the options of the command that creates a filter of this kind.
const FILES: [(&str, &str, &[&str]); 17] = [
    ("bloom", "build", &["--kind", "bloom", "--capacity", "3000"]),
    ("blocked", "build", &["--kind", "blocked", "--capacity", "3000"]),
    ("once", "build", &["--kind", "once", "--capacity", "3000"]),
    ("cuckoo", "build", &["--kind", "cuckoo", "--capacity", "3000", "--rate", "1e-5"]),
    // Buckets of 128 bits, where the processor has them.
    ("cuckoo", "build", &["--kind", "cuckoo", "--capacity", "3000"]),
    ("once-cuckoo", "new", &["--kind", "cuckoo", "--capacity", "3000", "--rate", "1e-5"]),
    ("once-cuckoo", "new", &["--kind", "cuckoo", "--capacity", "3000"]),
    ("counting", "build", &["--kind", "counting", "--capacity", "3000"]),
    ("counting", "new", &["--kind", "counting", "--capacity", "3000"]),
    ("rotating", "build", &["--window", "3000"]),
    ("rotating", "new", &["--window", "3000"]),
    // Its first slice is too small.
    ("scalable", "build", &["--kind", "scalable", "--capacity", "1024"]),
    ("scalable", "new", &["--kind", "scalable"]),
    ("scalable-cuckoo", "build", &["--kind", "scalable-cuckoo", "--capacity", "1000"]),
    ("scalable-cuckoo", "new", &["--kind", "scalable-cuckoo"]),
    ("table", "new", &[]),
    ("table", "new", &["--capacity", "3000"]),
];

/// The kinds that consist of several arrays, and cannot be merged.
const SEVERAL: [&str; 2] = ["rotating", "scalable"];

impl Files {
    /// Creates a filter from a file of lines.
    fn create(&self, name: &str, command: &str, options: &[&str], lines: &str) {
        let name = if command == "new" { vec![name] } else { vec!["-o", name] };
        self.run(&[&[command, "-q"], &name[..], &[lines], options].concat());
    }
}

#[test]
fn every_command_takes_every_kind_or_says_why_not() {
    let files = Files::new();
    files.write("one", lines(0..1500));
    files.write("other", lines(1000..2000));
    files.write("absent", lines(5000..6000));
    let read = |name: &str| files.read(name);
    for (number, (kind, command, options)) in FILES.iter().enumerate() {
        let (f, g) = (&*format!("f{number}"), &*format!("g{number}"));
        files.create(f, command, options, "one");
        files.create(g, command, options, "other");
        let asked = ["one", "other", "absent"];

        // query
        let (may, stats) = files.stats(&[&["query", f], &asked[..]].concat());
        let inside = lines((0..1500).chain(1000..1500));
        assert_eq!((&may, &stats["kind"]), (&inside, &(*kind).into()));
        let (not, _) = files.run(&[&["query", "-q", "-v", f], &asked[..]].concat());
        assert_eq!(not, lines((1500..2000).chain(5000..6000)));

        // info
        let info = files.info(f);
        assert_eq!(info["kind"], *kind);
        let items = info["items"].as_f64().expect("a number");
        let exact = info["items_exact"].as_bool().expect("known");
        let counted = ["cuckoo", "once-cuckoo", "scalable-cuckoo", "table"].contains(kind);
        assert_eq!(exact, counted);
        assert!(if exact {
            items.to_bits() == 1500_f64.to_bits()
        } else {
            (items - 1500.0).abs() < 100.0
        });
        let number =
            |field: &str| info[field].as_f64().unwrap_or_else(|| panic!("{field}: {info}"));
        // A table that grows in place is nearly full at any time.
        assert!((0.001..0.85).contains(&number("fill")), "{info}");
        assert!((1e-5..0.6).contains(&number("saturation")), "{info}");
        assert!((1e-30..1.1e-5).contains(&number("false_positive_rate")), "{info}");
        assert_eq!(number("file_bytes"), read(f).len() as f64);
        assert!(files.run(&["info", f]).0.contains(kind));

        // merge
        let merge = ["merge", "-q", "-o", "union", f, g];
        if SEVERAL.contains(kind) {
            let next = ["cannot be merged", "tamis build -o NEW --kind ", kind];
            files.fails(2, &merge, &next);
        } else {
            files.run(&merge);
            assert_eq!(
                files.run(&[&["query", "-q", "union"], &asked[..]].concat()).0,
                lines((0..1500).chain(1000..2000))
            );
        }

        // convert
        files.run(&["convert", "-q", "-o", "same", f]);
        assert!(read("same") == read(f));

        // new
        assert_eq!(files.run(&["new", "-q", "same", "other"]).0, lines(1500..2000));
        assert_eq!(files.run(&["new", "-q", "same", "other", "one"]).0, "");

        // remove
        if ["cuckoo", "counting", "scalable-cuckoo"].contains(kind) {
            files.run(&["remove", "-q", f, "other"]);
            assert_eq!(files.run(&[&["query", "-q", f], &asked[..]].concat()).0, lines(0..1000));
        } else {
            let part = if exact { "one fingerprint" } else { "one bit" };
            let next = "tamis build -o NEW --kind cuckoo ";
            files.fails(2, &["remove", f, "other"], &[f, "nothing can be removed", part, next]);
            assert!(!files.path(&format!("{f}.lock")).exists());
        }
    }
}

#[test]
fn an_index_is_no_filter() {
    let files = Files::new();
    files.write("in", "a\n");
    files.run(&["index", "-q", "-o", "I", "in"]);
    for args in [
        &["query", "I", "in"][..],
        &["info", "I"],
        &["convert", "-o", "f", "I"],
        &["new", "I", "in"],
        &["merge", "-o", "f", "I"],
    ] {
        files.fails(2, args, &["I: is an index, not a filter; 'tamis which' finds keys in it"]);
    }
}

/// Such a filter is made by programs that use the library.
#[test]
fn info_names_the_window_by_time() {
    let files = Files::new();
    let builder = tamis::RotatingBloomFilter::<str>::builder().capacity(100);
    let builder = builder.hasher(tamis::hash::Rapid::with_seed(1));
    let filter = builder.span(std::time::Duration::from_secs(90)).build().expect("memory");
    tamis::formats::save(&filter, files.path("f")).expect("a writable directory");
    assert_eq!(files.info("f")["window_seconds"], 90.0);
    assert!(files.run(&["info", "f"]).0.contains("\nwindow           90s: "));
    files.write("in", "a\n");
    files.run(&["build", "-q", "--window", "100", "-o", "g", "in"]);
    assert!(files.info("g")["window_seconds"].is_null());
}
