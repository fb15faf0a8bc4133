//! The guide: one chapter per task. Its examples are compiled and run with the tests.
//!
//! | You want to | Chapter |
//! |---|---|
//! | let exactly one thread do each job | [`claim`] |
//! | skip lookups of absent keys | [`guard`] |
//! | forget old items | [`forget`] |
//! | clear or replace a filter while threads use it | [`replace`] |
//! | remove items | [`remove`] |
//! | use a filter of unknown size | [`grow`] |
//! | keep a filter in a file, map it, share it between processes | [`save`] |
//! | share a filter between machines | [`redis`] |
//! | choose a hasher | [`hashers`] |
//! | use a filter without `std` | [`no_std`] |
//! | write code for any type of filter | [`generic`] |
//! | know memory and speed beforehand | [`figures`] |
//! | replace another crate | [`coming_from`] |
//!
//! [The table of all types](crate#which-type) is on the page of the crate. A filter that is built
//! without a rate has 1 %. A function that returns [`Error`] can build, fill, combine, save and
//! load filters with `?`.

// The chapters link to these.
use crate::{
    BlockedBloomFilter, BloomFilter, BuildError, CountingBloomFilter, CuckooFilter, DynFilter,
    Error, Filter, Hashed, InsertError, OnceBloomFilter, OnceCuckooFilter, OnceFilter,
    OnceScalableBloomFilter, RotatingBloomFilter, ScalableBloomFilter, WithRate, hash,
};

#[doc = include_str!("guide/claim.md")]
pub mod claim {}

#[doc = include_str!("guide/guard.md")]
pub mod guard {}

#[doc = include_str!("guide/forget.md")]
pub mod forget {}

#[doc = include_str!("guide/replace.md")]
pub mod replace {}

#[doc = include_str!("guide/remove.md")]
pub mod remove {}

#[doc = include_str!("guide/grow.md")]
pub mod grow {}

#[cfg_attr(feature = "formats", doc = include_str!("guide/save.md"))]
#[cfg_attr(
    not(feature = "formats"),
    doc = "Saved filters. This chapter needs the feature `formats`."
)]
pub mod save {}

#[doc = include_str!("guide/redis.md")]
pub mod redis {}

#[doc = include_str!("guide/hashers.md")]
pub mod hashers {}

#[doc = include_str!("guide/no_std.md")]
pub mod no_std {}

#[doc = include_str!("guide/generic.md")]
pub mod generic {}

// The curve is HTML, which begins after a blank line.
#[doc = include_str!("guide/figures.md")]
#[doc = ""]
#[doc = include_str!("guide/probes.svg")]
pub mod figures {}

#[doc = include_str!("guide/coming_from.md")]
pub mod coming_from {}
