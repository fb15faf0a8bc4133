//! The little-endian fields in the bytes of a header, a trailer or an entry.

pub(crate) fn array_at<const COUNT: usize, const LEN: usize>(
    bytes: &[u8; LEN],
    at: usize,
) -> [u8; COUNT] {
    core::array::from_fn(|byte| bytes[at + byte])
}

pub(crate) fn u32_at<const LEN: usize>(bytes: &[u8; LEN], at: usize) -> u32 {
    u32::from_le_bytes(array_at(bytes, at))
}

pub(crate) fn u64_at<const LEN: usize>(bytes: &[u8; LEN], at: usize) -> u64 {
    u64::from_le_bytes(array_at(bytes, at))
}
