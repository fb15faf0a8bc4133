//! `tamis-formats` reads, answers, writes and builds the filters of other systems as those systems
//! do.

mod building;
mod damage;
mod edges;
mod every;
mod parquet_crate;
mod parquet_file;
mod python;
mod registry;
mod sparse;
mod union;

use tamis_formats::foreign::Key;
use tamis_vectors::OwnedKey;

fn key(key: &OwnedKey) -> Key<'_> {
    match key {
        OwnedKey::Bytes(bytes) => Key::Bytes(bytes),
        OwnedKey::Text(text) => Key::Text(text),
        OwnedKey::I32(number) => Key::I32(*number),
        OwnedKey::I64(number) => Key::I64(*number),
    }
}
