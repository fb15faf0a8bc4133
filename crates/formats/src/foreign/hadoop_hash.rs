//! The hash functions of Hadoop.

/// Returns the hash of `MurmurHash.java`: MurmurHash2 of 32 bits with another tail. There the last
/// byte is the least significant one, and each byte keeps its sign.
pub(super) fn murmur(bytes: &[u8], seed: u32) -> u32 {
    const M: u32 = 0x5bd1_e995;
    let (words, tail) = bytes.as_chunks::<4>();
    let mut hash = words.iter().fold(seed ^ bytes.len() as u32, |hash, &word| {
        let word = u32::from_le_bytes(word).wrapping_mul(M);
        hash.wrapping_mul(M) ^ (word ^ (word >> 24)).wrapping_mul(M)
    });
    for (&byte, place) in tail.iter().rev().zip(0..) {
        hash ^= (i32::from(byte as i8) as u32) << (8 * place);
    }
    if !tail.is_empty() {
        hash = hash.wrapping_mul(M);
    }
    hash = (hash ^ (hash >> 13)).wrapping_mul(M);
    hash ^ (hash >> 15)
}

/// Returns the hash of `JenkinsHash.java`: `hashlittle` of Bob Jenkins' lookup3 (2006, in the
/// public domain,
/// <https://burtleburtle.net/bob/c/lookup3.c>).
pub(super) fn jenkins(bytes: &[u8], seed: u32) -> u32 {
    let start = 0xdead_beef_u32.wrapping_add(bytes.len() as u32).wrapping_add(seed);
    let (mut a, mut b, mut c) = (start, start, start);
    // The last block has from 1 to 12 bytes, and a mix of its own.
    let split = bytes.len().saturating_sub(1) / 12 * 12;
    let (blocks, last) = bytes.split_at(split);
    let add = |block: &[u8; 12], (a, b, c): (&mut u32, &mut u32, &mut u32)| {
        let (words, _) = block.as_chunks::<4>();
        *a = a.wrapping_add(u32::from_le_bytes(words[0]));
        *b = b.wrapping_add(u32::from_le_bytes(words[1]));
        *c = c.wrapping_add(u32::from_le_bytes(words[2]));
    };
    for block in blocks.as_chunks().0 {
        add(block, (&mut a, &mut b, &mut c));
        a = a.wrapping_sub(c) ^ c.rotate_left(4);
        c = c.wrapping_add(b);
        b = b.wrapping_sub(a) ^ a.rotate_left(6);
        a = a.wrapping_add(c);
        c = c.wrapping_sub(b) ^ b.rotate_left(8);
        b = b.wrapping_add(a);
        a = a.wrapping_sub(c) ^ c.rotate_left(16);
        c = c.wrapping_add(b);
        b = b.wrapping_sub(a) ^ a.rotate_left(19);
        a = a.wrapping_add(c);
        c = c.wrapping_sub(b) ^ b.rotate_left(4);
        b = b.wrapping_add(a);
    }
    if last.is_empty() {
        return c;
    }
    let mut padded = [0; 12];
    padded[..last.len()].copy_from_slice(last);
    add(&padded, (&mut a, &mut b, &mut c));
    c = (c ^ b).wrapping_sub(b.rotate_left(14));
    a = (a ^ c).wrapping_sub(c.rotate_left(11));
    b = (b ^ a).wrapping_sub(a.rotate_left(25));
    c = (c ^ b).wrapping_sub(b.rotate_left(16));
    a = (a ^ c).wrapping_sub(c.rotate_left(4));
    b = (b ^ a).wrapping_sub(a.rotate_left(14));
    (c ^ b).wrapping_sub(b.rotate_left(24))
}

#[cfg(test)]
mod tests {
    use super::jenkins;

    /// The values of the comments in `lookup3.c`.
    #[test]
    fn lookup3_has_the_values_of_its_author() {
        assert_eq!(jenkins(b"", 0), 0xdead_beef);
        assert_eq!(jenkins(b"", 0xdead_beef), 0xbd5b_7dde);
        assert_eq!(jenkins(b"Four score and seven years ago", 0), 0x1777_0551);
        assert_eq!(jenkins(b"Four score and seven years ago", 1), 0xcd62_8161);
    }
}
