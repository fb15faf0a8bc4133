//! Files of filters from arbitrary bytes: as they are, or repaired so that they pass the first
//! checks.

use tamis::hash::{Algorithm, AnyStable, ItemHasher, StableHasher};
use tamis_formats::{Info, Kind, LoadError, Options};
use twox_hash::XxHash3_64;

use crate::table;

/// Evaluates an expression with the type of a kind.
macro_rules! with_kind {
    ($kind:expr, $type:ident => $value:expr) => {
        $crate::file::with_kind! {
            $kind, $type => $value; Bloom BlockedBloom OnceBloom Cuckoo OnceCuckoo ScalableBloom
            OnceScalableBloom CountingBloom RotatingBloom
        }
    };
    ($kind:expr, $type:ident => $value:expr; $($name:ident)*) => {
        match $kind {
            $(tamis_formats::Kind::$name => {
                type $type = $crate::file::types::$name;
                $value
            })*
            // A table is the program's own, and a foreign filter has its own loader: as filters of
            // any type they are refused.
            tamis_formats::Kind::Table | tamis_formats::Kind::Foreign => {
                type $type = $crate::file::types::Bloom;
                $value
            }
            kind => panic!("the new kind {kind} needs a type here"),
        }
    };
}

pub(crate) use with_kind;

/// The part of a header whose bytes are input: what follows is the record of the kind, or a
/// checksum.
const FIELDS: usize = 152;
/// The same with the record, in the kinds and the layout that have one.
const FIELDS_AND_RECORD: usize = 248;
const HEADER: usize = 256;
/// The layout of cuckoo filters that grow.
const GROWING: u8 = 7;
const CHUNK: usize = 1 << 20;
/// The longest body that a repair makes.
const MAX_BODY: u64 = 1 << 14;

/// Returns the file that the input describes.
///
/// The first byte says how much is repaired. 0: nothing, the file follows. Otherwise the first
/// fields of a header follow, and then the body.
pub(crate) fn file_of(data: &[u8]) -> Vec<u8> {
    repaired(data, repair_sizes)
}

/// As [`file_of`], with the sizes of a table.
pub(crate) fn table_file_of(data: &[u8]) -> Vec<u8> {
    repaired(data, repair_table)
}

fn repaired(data: &[u8], repair_sizes: fn(&mut [u8; HEADER], &mut Vec<u8>)) -> Vec<u8> {
    let Some((&repairs, rest)) = data.split_first() else { return Vec::new() };
    if repairs == 0 {
        return rest.to_vec();
    }
    let has_record = match (rest.get(16), rest.get(24)) {
        (Some(4 | 5), Some(&layout)) => layout == GROWING,
        (kind, _) => kind.is_some_and(|kind| (6..=9).contains(kind)),
    };
    let fields = if has_record { FIELDS_AND_RECORD } else { FIELDS };
    let (fields, body) = rest.split_at(rest.len().min(fields));
    let mut header = [0; HEADER];
    header[..fields.len()].copy_from_slice(fields);
    header[..8].copy_from_slice(b"\x89TAMIS\r\n");
    header[8..12].copy_from_slice(&1_u32.to_le_bytes());
    header[12..16].copy_from_slice(&256_u32.to_le_bytes());
    let mut body = body.to_vec();
    let has = |repair: u8| repairs & repair != 0;
    if has(2) {
        repair_hash(&mut header);
    }
    if has(4) {
        repair_sizes(&mut header, &mut body);
    }
    seal(&mut header, &body, has(8));
    if has(16) {
        repair_items(&mut header, &body, has(8));
    }
    file(&header, &body, has(8))
}

fn number(header: &[u8; HEADER], at: usize) -> u64 {
    u64::from_le_bytes(core::array::from_fn(|byte| header[at + byte]))
}

fn put(header: &mut [u8; HEADER], at: usize, number: u64) {
    header[at..at + 8].copy_from_slice(&number.to_le_bytes());
}

/// Returns a number from 1 to `max`, which is the given one if that is in this range.
fn within(number: u64, max: u64) -> u64 {
    1 + number.wrapping_sub(1) % max
}

/// Returns a number from 0 to `max`, which is the given one if that is in this range.
fn up_to(number: u64, max: u64) -> u64 {
    number % (max + 1)
}

/// Chooses one of the algorithms, and makes its key and its probe right.
fn repair_hash(header: &mut [u8; HEADER]) {
    let code = within(header[28].into(), 4) as u8;
    header[28..32].copy_from_slice(&u32::from(code).to_le_bytes());
    if code != 4 {
        header[40..48].fill(0);
    }
    let key: [u8; 16] = core::array::from_fn(|byte| header[32 + byte]);
    let algorithm = [Algorithm::Rapid, Algorithm::Xxh3, Algorithm::Xxh64, Algorithm::SipHash13]
        [usize::from(code) - 1];
    let hasher = AnyStable::from_key(algorithm, key).expect("the key is right");
    put(header, 48, hasher.hash_probe());
}

/// Makes the size small, and the layout, the lengths and the body those of the size.
fn repair_sizes(header: &mut [u8; HEADER], body: &mut Vec<u8>) {
    let kind = match header[16] {
        kind @ 6..=9 => u32::from(kind),
        kind => within(kind.into(), 5) as u32,
    };
    let layout = match kind {
        4 | 5 if header[24] == GROWING => GROWING.into(),
        kind => [1, 2, 2, 3, 3, 4, 4, 5, 6][kind as usize - 1],
    };
    header[16..20].copy_from_slice(&kind.to_le_bytes());
    header[24..28].copy_from_slice(&u32::to_le_bytes(layout));
    let size = number(header, 88);
    if layout >= 4 {
        return repair_growing(header, body, layout);
    }
    let (size, bits) = match layout {
        1 => (within(size, 4096), 1),
        2 => (512 * within(size / 512, 16), 1),
        _ => (2 * within(size / 2, 128), bucket_bits(header[96], header[100])),
    };
    put(header, 88, size);
    let body_len = (size * bits).div_ceil(512) * 64;
    assert!(body_len <= MAX_BODY, "{size} * {bits}");
    put(header, 120, 4096);
    put(header, 128, body_len);
    put(header, 136, CHUNK as u64);
    body.resize(body_len as usize, 0);
}

/// Makes the sizes of a kind with a record small, and the lengths and the body those of the sizes.
fn repair_growing(header: &mut [u8; HEADER], body: &mut Vec<u8>, layout: u32) {
    let lines = within(number(header, 88) / 512, 8);
    let body_lines = match layout {
        5 => {
            put(header, 88, 512 * lines);
            4 * lines
        }
        6 => {
            put(header, 88, 512 * lines);
            let generations = 1 + within(number(header, 152).wrapping_sub(1), 15);
            put(header, 152, generations);
            lines * (generations + 1)
        }
        // The directory decides.
        4 => {
            let slices = within(number(header, 168), 4);
            put(header, 168, slices);
            body.resize(body.len().max(64 * slices as usize), 0);
            let mut all = 0;
            for slice in 0..slices as usize {
                let entry = &mut body[64 * slice..][..64];
                let lines = within(u64::from(entry[1]) / 2, 8);
                entry[..8].copy_from_slice(&(512 * lines).to_le_bytes());
                all += lines;
            }
            put(header, 88, 512 * all);
            slices + all
        }
        _ => repair_in_place(header, body),
    };
    assert!(64 * body_lines <= MAX_BODY, "{body_lines} lines");
    put(header, 120, 4096);
    put(header, 128, 64 * body_lines);
    put(header, 136, CHUNK as u64);
    body.resize(64 * body_lines as usize, 0);
}

/// Makes the sizes of a cuckoo filter that grows small, and the tags of its buckets right. Returns
/// the number of lines.
fn repair_in_place(header: &mut [u8; HEADER], body: &mut Vec<u8>) -> u64 {
    let (bits, widest) = if header[160] == 128 { (128, 42) } else { (64, 31) };
    let doublings = within(number(header, 152), 6);
    let first = 8 * within(number(header, 88) / 8, 3);
    let positions = 1 << first.ilog2();
    let narrowest = doublings + u64::from(first != positions) + 8;
    let width =
        narrowest + up_to(u64::from(header[100]).wrapping_sub(narrowest), widest - narrowest);
    // Whole lines of split buckets, as many as a body may have.
    let step = 512 / bits;
    let most = (first << doublings).min(MAX_BODY / 64 * step);
    let more = number(header, 168).wrapping_sub(first) / step;
    let buckets = first + step * up_to(more, (most - first) / step);
    put(header, 88, first);
    header[96..100].fill(0);
    header[100..104].copy_from_slice(&(width as u32).to_le_bytes());
    put(header, 152, doublings);
    put(header, 160, bits);
    put(header, 168, buckets);
    let lines = buckets / step;
    body.resize(64 * lines as usize, 0);
    // The level of the buckets that are not split, and the number of those that are.
    let level = (buckets / positions).ilog2();
    let split = buckets - (positions << level);
    for place in 0..buckets {
        let is_split = place % (positions << level) < split;
        let tag = 1 + (level + u32::from(is_split)) % 2;
        let byte = &mut body[((place + 1) * bits / 8 - 1) as usize];
        *byte = *byte & 0x3F | (tag as u8) << 6;
    }
    lines
}

/// Makes the kind that of a table, and the sizes small.
fn repair_table(header: &mut [u8; HEADER], body: &mut Vec<u8>) {
    header[16..28].fill(0);
    (header[16], header[24]) = (16, 16);
    let lines = 63 + within(number(header, 88), 64);
    put(header, 88, lines);
    put(header, 96, 32 << 32 | 64);
    let body_len = 64 * (24 + lines);
    assert!(body_len <= MAX_BODY);
    put(header, 120, 4096);
    put(header, 128, body_len);
    put(header, 136, CHUNK as u64);
    body.resize(body_len as usize, 0);
}

/// The bits of a bucket of a cuckoo filter.
fn bucket_bits(slots: u8, width: u8) -> u64 {
    match (slots, width) {
        (4, 8) => 32,
        (7, 18) | (5, 25) | (4, 32) | (3, 42) => 128,
        _ => 64,
    }
}

/// Makes the number of items that of the body, which the loader reports.
fn repair_items(header: &mut [u8; HEADER], body: &[u8], has_table: bool) {
    let bytes = file(header, body, has_table);
    let Ok(info) = Info::read(&bytes[..]) else { return };
    let options = Options::new().normalization(info.normalization());
    let error = match info.kind() {
        Kind::Table => table::load(&bytes, &options).err(),
        kind => with_kind!(kind, F => options.read_frozen::<F>(&bytes[..]).err()),
    };
    if let Some(LoadError::ItemCount { expected, .. }) = error {
        put(header, 112, expected);
        seal(header, body, has_table);
    }
}

/// Makes the checksums of the header right, and those of the body if asked for.
fn seal(header: &mut [u8; HEADER], body: &[u8], has_table: bool) {
    if has_table {
        put(header, 144, XxHash3_64::oneshot(&table(body)));
    }
    let checksum = XxHash3_64::oneshot(&header[..248]);
    put(header, 248, checksum);
}

fn table(body: &[u8]) -> Vec<u8> {
    body.chunks(CHUNK).flat_map(|chunk| XxHash3_64::oneshot(chunk).to_le_bytes()).collect()
}

fn file(header: &[u8; HEADER], body: &[u8], has_table: bool) -> Vec<u8> {
    let mut file = header.to_vec();
    if has_table {
        file.extend(table(body));
    }
    file.resize(4096, 0);
    file.extend(body);
    file
}

/// The types of filters, with every hash algorithm.
pub(crate) mod types {
    use super::AnyStable;

    pub(crate) type Bloom = tamis::BloomFilter<[u8], AnyStable>;
    pub(crate) type BlockedBloom = tamis::BlockedBloomFilter<[u8], AnyStable>;
    pub(crate) type OnceBloom = tamis::OnceBloomFilter<[u8], AnyStable>;
    pub(crate) type Cuckoo = tamis::CuckooFilter<[u8], AnyStable>;
    pub(crate) type OnceCuckoo = tamis::OnceCuckooFilter<[u8], AnyStable>;
    pub(crate) type ScalableBloom = tamis::ScalableBloomFilter<[u8], AnyStable>;
    pub(crate) type OnceScalableBloom = tamis::OnceScalableBloomFilter<[u8], AnyStable>;
    pub(crate) type CountingBloom = tamis::CountingBloomFilter<[u8], AnyStable>;
    pub(crate) type RotatingBloom = tamis::RotatingBloomFilter<[u8], AnyStable>;
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::reader::Reader;

    /// Otherwise the targets would test refusals only. Files named `refused-…` were once taken by
    /// one reader and not by the other.
    #[test]
    fn the_regressions_are_files_that_load() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/regressions/load_diff");
        let mut kinds = Vec::new();
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let file = file_of(&fs::read(&path).unwrap());
            if path.file_name().unwrap().to_string_lossy().starts_with("refused-") {
                assert!(Reader::new(&file).is_err(), "{} is taken", path.display());
                continue;
            }
            Reader::new(&file).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
            kinds.push(Info::read(&file[..]).unwrap().kind());
        }
        let of_filters = tamis_formats::Kind::ALL.iter().filter(|kind| {
            !matches!(kind, tamis_formats::Kind::Table | tamis_formats::Kind::Foreign)
        });
        for kind in of_filters {
            assert!(kinds.contains(kind), "no file of a {kind}");
        }
    }
}
