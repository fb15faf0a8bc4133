//! Files of filters from arbitrary bytes: as they are, or repaired so that they pass the first checks.

use tamis::hash::{Algorithm, AnyStable, ItemHasher, StableHasher};
use tamis_formats::{Info, LoadError, Options};
use twox_hash::XxHash3_64;

/// Evaluates an expression with the type of a kind.
macro_rules! with_kind {
    ($kind:expr, $type:ident => $value:expr) => {{
        use $crate::file::types;
        match $kind {
            tamis_formats::Kind::Bloom => {
                type $type = types::Bloom;
                $value
            }
            tamis_formats::Kind::BlockedBloom => {
                type $type = types::BlockedBloom;
                $value
            }
            tamis_formats::Kind::OnceBloom => {
                type $type = types::OnceBloom;
                $value
            }
            tamis_formats::Kind::Cuckoo => {
                type $type = types::Cuckoo;
                $value
            }
            tamis_formats::Kind::OnceCuckoo => {
                type $type = types::OnceCuckoo;
                $value
            }
            // A table is the program's own: as a filter of any type it is refused.
            tamis_formats::Kind::Table => {
                type $type = types::Bloom;
                $value
            }
            kind => panic!("the new kind {kind} needs a type here"),
        }
    }};
}

pub(crate) use with_kind;

/// The part of a header whose bytes are input: what follows is reserved, or a checksum.
const FIELDS: usize = 152;
const HEADER: usize = 256;
const CHUNK: usize = 1 << 20;
/// The longest body that a repair makes.
const MAX_BODY: u64 = 1 << 14;

/// Returns the file that the input describes.
///
/// The first byte says how much is repaired. 0: nothing, the file follows. Otherwise the first fields of a header
/// follow, and then the body.
pub(crate) fn file_of(data: &[u8]) -> Vec<u8> {
    let Some((&repairs, rest)) = data.split_first() else { return Vec::new() };
    if repairs == 0 {
        return rest.to_vec();
    }
    let (fields, body) = rest.split_at(rest.len().min(FIELDS));
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
    let kind = within(header[16].into(), 5) as u32;
    let layout = [1, 2, 2, 3, 3][kind as usize - 1];
    header[16..20].copy_from_slice(&kind.to_le_bytes());
    header[24..28].copy_from_slice(&u32::to_le_bytes(layout));
    let size = number(header, 88);
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
    let options = Options::new().policy(info.policy());
    let error = with_kind!(info.kind(), F => options.read_frozen::<F>(&bytes[..]).err());
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
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::reader::Reader;

    /// Otherwise the targets would test refusals only.
    #[test]
    fn the_regressions_are_files_that_load() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/regressions/load_native");
        let mut kinds = Vec::new();
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let file = file_of(&fs::read(&path).unwrap());
            Reader::new(&file).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
            kinds.push(Info::read(&file[..]).unwrap().kind());
        }
        let of_filters =
            tamis_formats::Kind::ALL.iter().filter(|kind| **kind != tamis_formats::Kind::Table);
        for kind in of_filters {
            assert!(kinds.contains(kind), "no file of a {kind}");
        }
    }
}
