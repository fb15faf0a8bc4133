//! The methods that all filters of this crate have, with what they say of each group of types.

use tamis_core::common_methods;

use crate::blocked::BlockedBloomFilter;
#[cfg(feature = "std")]
use crate::builder::Builder;
use crate::classic::BloomFilter;
use crate::counting::CountingBloomFilter;
#[cfg(feature = "std")]
use crate::growing::ScalableBuilder;
use crate::once::OnceBloomFilter;
use crate::once_scalable::OnceScalableBloomFilter;
use crate::rotating::RotatingBloomFilter;
#[cfg(feature = "std")]
use crate::rotating::builder::RotatingBuilder;
use crate::scalable::ScalableBloomFilter;

/// Defines the methods of filters of a fixed size. With each type come how many of concurrent
/// inserts of a new item return `true`, and how its rate is computed.
macro_rules! fixed {
    (
        $($ty:ident => $winners:literal, $rate:literal),+;
        reads: $reads:literal,
        contains: $contains:literal, $sees:literal,
        size: $size:literal
    ) => {$(
        common_methods! {
            $ty.shared of "tamis_bloom",
            builder: Builder<Self>,
            inserted: bool = "[true, true, false]",
            must_use: "`extend` inserts without results",
            with_capacity: " Builds an empty filter for `items` distinct items at a false-positive \
                            rate of 1 %, with a randomly keyed hasher. A capacity of 0 counts as 1.",
            builds: " Returns a builder, which sizes the filter by items and rate or by bits and \
                     probes, and takes any hasher.",
            contains: $contains "" $sees,
            inserts: " Faster than single inserts in filters larger than the caches, and as fast in \
                      small ones. As with [`insert`](Self::insert)," $winners
                     " of concurrent inserts of a new item returns `true`.",
            queries: " Faster than single queries in filters larger than the caches.",
            capacity: " Returns the number of distinct items that the filter was built for."
                = |filter| filter.shared.capacity(),
            saturation: " Returns the estimated number of items divided by the capacity. 1 means \
                         full. Above 1 the filter is overfilled, and its rate may be higher than \
                         the rate it was built for." $reads
                = |filter| filter.shared.saturation(),
            rate: $rate $reads,
            size: $size = |filter| filter.geometry().size_in_bytes(),
            figures: " Reads all bits once: `O(bits)`.",
            sample: " Reads at least `lines` of the filter's 64-byte lines (all if it has fewer) and \
                     at most twice that number, evenly spread: `O(lines)`. A line of a counting \
                     filter is four cache lines: 512 counters. A sample of 1024 lines takes less \
                     than a millisecond at any size."
        }
    )+};
}

fixed! {
    BloomFilter => " **at least one**",
        " Exact for the contents: the share of ones to the power of the number of probes.",
    BlockedBloomFilter => " **at least one**",
        " Computed from the contents as the mean over the lines, with an error of a few thousandths \
         (a hundredth in a nearly empty filter).",
    OnceBloomFilter => " **exactly one**",
        " Computed from the contents as the mean over the lines, with an error of a few thousandths \
         (a hundredth in a nearly empty filter).";
    reads: " Reads all bits: `O(bits)`.",
    contains: " Returns whether the item may have been inserted. `false` is certain: no insert of \
               the item happened before. For an item that was not inserted, the probability of \
               `true` is the [`false_positive_rate`](Self::false_positive_rate).",
        " Wait-free. Sees every insert that happens before the call. Of an insert that runs \
         concurrently, it may see all bits, some, or none.",
    size: " Returns the size of the bit array in bytes."
}

fixed! {
    CountingBloomFilter => " **at least one**",
        " An item is also absent if all its copies were removed. The rate is computed from the \
         contents as the mean over the lines, with an error of a few thousandths (a hundredth in a \
         nearly empty filter).";
    reads: " Reads all counters: `O(bits)`.",
    contains: " Returns whether the filter may have a copy of the item. `false` is certain. `true` \
               is wrong at the [`false_positive_rate`](Self::false_positive_rate).",
        " Wait-free. Finds every item whose insert happens before the call and whose removal happens \
         after it, if no item was removed that was not inserted. Of an insert or a removal that runs \
         concurrently, it may see all changes, some, or none.",
    size: " Returns the size of the counters in bytes: half a byte each."
}

/// Defines the methods of filters that grow.
macro_rules! growing {
    ($($ty:ident => $winners:literal;)+) => {$(
        common_methods! {
            $ty of "tamis_bloom",
            builder: ScalableBuilder<Self>,
            inserted: bool = "[true, true, false]",
            must_use: "`extend` inserts without results",
            with_capacity: " Builds an empty filter at a false-positive rate of 1 %, with a randomly \
                            keyed hasher. Its first slice takes `items` items, at least 1024.",
            builds: " Returns a builder, which takes a first and a last size, a rate, a limit for \
                     the memory, and any hasher.",
            contains: " Returns whether the item may have been inserted. `false` is certain: no \
                       insert of the item happened before. For an item that was not inserted, the \
                       probability of `true` is the \
                       [`false_positive_rate`](Self::false_positive_rate)."
                      ""
                      " Wait-free. Sees every insert that happens before the call, into whatever \
                       slice. Of an insert that runs concurrently, it may see all bits, some, or \
                       none. Looks into all slices of one shape at once, and into those of the \
                       newest shape first, until one contains the item.",
            inserts: " Faster than single inserts: 32 items pass all slices together. As with \
                      [`insert`](Self::insert)," $winners
                     " of concurrent inserts of a new item returns `true`.",
            queries: " Faster than single queries: 32 items pass all slices together.",
            capacity: " Returns the number of distinct items that all current slices take at their \
                       rates. It grows with the filter, up to its \
                       [`max_capacity`](Self::max_capacity)."
                = |filter| filter.slices.capacity(),
            saturation: " Returns the estimated number of items divided by the \
                         [capacity](Self::capacity), or the same figure of the newest slice, if \
                         that is larger. The result is at most 1 while the filter can grow, apart \
                         from the error of the estimate. When the filter cannot grow any more, all \
                         new items go to its newest slice. Above 1, its rate may be higher than the \
                         rate it was built for. Reads all bits: `O(bits)`."
                = |filter| filter.figures().saturation.value,
            rate: " Computed from the bits of each slice. Reads all bits: `O(bits)`.",
            size: " Returns the size of the bits of all slices in bytes. The next slice counts as \
                   soon as it is reserved: when the newest slice has room for an eighth of its \
                   items, or for 4096 if that is more (for half of its items, if it takes fewer \
                   than 8192)."
                = |filter| filter.slices.size_in_bytes(),
            figures: " Reads all bits once: `O(bits)`.",
            sample: " Reads at least `lines` of the filter's 64-byte lines, and at least two lines \
                     of each slice (all if there are fewer), evenly spread. It reads about twice \
                     that number at most: `O(lines)`. A sample of 1024 lines takes less than a \
                     millisecond at any size."
        }
    )+};
}

growing! {
    ScalableBloomFilter => " **at least one**";
    OnceScalableBloomFilter => " **exactly one**";
}

common_methods! {
    RotatingBloomFilter of "tamis_bloom",
    builder: RotatingBuilder<T>,
    inserted: bool = "[true, true, false]",
    must_use: "`extend` inserts without results",
    with_capacity: " Builds an empty filter for a window of `items` items at a false-positive rate \
                    of 1 %, with a randomly keyed hasher. A capacity of 0 counts as 1.",
    builds: " Returns a builder, which sets the window, the rate and the hasher.",
    contains: " Returns whether the item may be in the window. For an item that was not inserted, \
               the probability of `true` is the \
               [`false_positive_rate`](Self::false_positive_rate). An item of the window is found \
               for up to one generation longer. `false` is certain: no insert of the item that \
               returned `true`, and no `insert_or_refresh`, is in the window (see [what is \
               certain](Self#what-is-certain))."
              ""
              " Wait-free. Sees every insert that happens before the call.",
    inserts: " Faster than single inserts, most of all in filters larger than the caches. As with \
              [`insert`](Self::insert), **exactly one** of concurrent inserts of a new item returns \
              `true`.",
    queries: " Faster than single queries, most of all in filters larger than the caches.",
    capacity: " Returns the number of new items in the window that the filter is sized for. In a \
               window by items that is the window."
        = |filter| filter.capacity,
    saturation: " Returns how full the filter is; above 1 its false-positive rate may be higher than \
                 requested. Reads all bits: `O(size)`."
                ""
                " In a window by items it is the number of items in the live generations, divided by \
                 the number that they are sized for: at most 1, apart from the error of the \
                 estimate. In a window by time it is that of the fullest generation alone, so that a \
                 [burst](Self#bursts) shows."
        = |filter| filter.figures().saturation.value,
    rate: " It does so if all bits of the item are set in one of the live generations. Computed from \
           the contents of all generations, place by place. Reads all bits: `O(size)`.",
    size: " Returns the size in bytes of the array, with the generation that is being cleared, and \
           of the locks."
        = |filter| filter.array.ring.size_in_bytes(),
    figures: " Reads all bits once: `O(bits)`.",
    sample: " Reads groups of 64-byte lines, with a line of each generation in a group: at least \
             `lines` lines, rounded up to whole groups (all if there are fewer), and at most twice \
             that number, evenly spread: `O(lines)`. A sample of 1024 lines takes less than a \
             millisecond at any size."
}
