//! The commands of the schemes, and what their replies mean: one function per way to insert or
//! query.

use redis::{Connection, RedisResult, cmd, pipe};

use super::layout::Layout;

/// A key, and the connection to its server.
pub(super) struct Key {
    pub(super) connection: Connection,
    pub(super) name: String,
    pub(super) layout: Layout,
}

/// Sets the bits of items, and returns whether a bit of each was 0. `ARGV`: the bits per item, and
/// the bits.
pub(super) const INSERT: &str = "local k, new = tonumber(ARGV[1]), {} \
for item = 0, (#ARGV - 1) / k - 1 do local zeros = 0 \
for at = item * k + 2, item * k + k + 1 do \
zeros = zeros + 1 - redis.call('SETBIT', KEYS[1], ARGV[at], 1) end \
new[item + 1] = zeros > 0 and 1 or 0 end return new";

/// Returns whether all bits of each item are 1, and stops at the first that is not. `ARGV` as
/// above.
pub(super) const CONTAINS: &str = "local k, found = tonumber(ARGV[1]), {} \
for item = 0, (#ARGV - 1) / k - 1 do found[item + 1] = 1 \
for at = item * k + 2, item * k + k + 1 do \
if redis.call('GETBIT', KEYS[1], ARGV[at]) == 0 then found[item + 1] = 0 break end end end \
return found";

/// Takes the old values of an item's bits, and returns whether one was 0: then the item was not in
/// the filter.
fn has_zero(old: &mut core::slice::Iter<'_, i64>, bits: usize) -> bool {
    // All replies of the item are taken, whatever the first is.
    old.take(bits).filter(|old| **old == 0).count() > 0
}

impl Key {
    /// Sets the bits of all items with one `BITFIELD`, which also reads a word as our filter's
    /// commands do.
    pub(super) fn insert_by_bitfield(&mut self, items: &[u64]) -> RedisResult<Vec<bool>> {
        let offsets: Vec<Vec<u64>> = items.iter().map(|item| self.layout.offsets(*item)).collect();
        let mut command = cmd("BITFIELD");
        command.arg(&self.name).arg("GET").arg("i64").arg(0);
        for offset in offsets.iter().flatten() {
            command.arg("SET").arg("u1").arg(offset).arg(1);
        }
        let old: Vec<i64> = command.query(&mut self.connection)?;
        let mut old = old.get(1..).unwrap_or_default().iter();
        Ok(offsets.iter().map(|offsets| has_zero(&mut old, offsets.len())).collect())
    }

    /// Reads the words of all items with one `BITFIELD_RO`.
    pub(super) fn query_words(&mut self, items: &[u64]) -> RedisResult<Vec<bool>> {
        let mut command = cmd("BITFIELD_RO");
        command.arg(&self.name);
        let words: Vec<Vec<_>> =
            items.iter().map(|item| self.layout.words(*item).collect()).collect();
        for (word, _) in words.iter().flatten() {
            command.arg("GET").arg("i64").arg(64 * word);
        }
        let read: Vec<i64> = command.query(&mut self.connection)?;
        let mut read = read.iter().map(|word| word.cast_unsigned().swap_bytes());
        let found = words.iter().map(|words| {
            let missing = words.iter().zip(&mut read).filter(|((_, bits), read)| bits & !read != 0);
            missing.count() == 0
        });
        Ok(found.collect())
    }

    /// Reads the line of each item with a `GETRANGE`, in one pipeline.
    pub(super) fn query_lines(&mut self, items: &[u64]) -> RedisResult<Vec<bool>> {
        let mut pipeline = pipe();
        let words: Vec<Vec<_>> =
            items.iter().map(|item| self.layout.words(*item).collect()).collect();
        let line = |words: &[(u64, u64)]| words.first().map_or(0, |(word, _)| word / 8);
        for words in &words {
            let first = 64 * line(words);
            pipeline.cmd("GETRANGE").arg(&self.name).arg(first).arg(first + 63);
        }
        let read: Vec<Vec<u8>> = pipeline.query(&mut self.connection)?;
        let found = words.iter().zip(&read).map(|(words, line)| {
            let word = |number: u64| {
                let bytes = line.get(8 * (number % 8) as usize..)?.first_chunk()?;
                Some(u64::from_le_bytes(*bytes))
            };
            words.iter().all(|(number, bits)| word(*number).is_some_and(|word| bits & !word == 0))
        });
        Ok(found.collect())
    }

    /// Reads the bits of all items with one `BITFIELD_RO`.
    pub(super) fn query_bits(&mut self, items: &[u64]) -> RedisResult<Vec<bool>> {
        let offsets: Vec<Vec<u64>> = items.iter().map(|item| self.layout.offsets(*item)).collect();
        let mut command = cmd("BITFIELD_RO");
        command.arg(&self.name);
        for offset in offsets.iter().flatten() {
            command.arg("GET").arg("u1").arg(offset);
        }
        let read: Vec<i64> = command.query(&mut self.connection)?;
        let mut read = read.iter();
        Ok(offsets.iter().map(|offsets| !has_zero(&mut read, offsets.len())).collect())
    }

    /// Sends one command per bit of the items, `SETBIT` or `GETBIT`, in one pipeline. Returns
    /// whether a bit of each was 0.
    pub(super) fn bit_by_bit(&mut self, items: &[u64], set: bool) -> RedisResult<Vec<bool>> {
        let mut pipeline = pipe();
        let mut bits = Vec::with_capacity(items.len());
        for item in items {
            let offsets = self.layout.offsets(*item);
            for offset in &offsets {
                pipeline.cmd(if set { "SETBIT" } else { "GETBIT" }).arg(&self.name).arg(offset);
                if set {
                    pipeline.arg(1);
                }
            }
            bits.push(offsets.len());
        }
        let old: Vec<i64> = pipeline.query(&mut self.connection)?;
        let mut old = old.iter();
        Ok(bits.into_iter().map(|bits| has_zero(&mut old, bits)).collect())
    }

    /// Runs one of the scripts by its hash. All items have the same number of bits.
    pub(super) fn script(&mut self, sha: &str, items: &[u64]) -> RedisResult<Vec<bool>> {
        let offsets: Vec<Vec<u64>> = items.iter().map(|item| self.layout.offsets(*item)).collect();
        let mut command = cmd("EVALSHA");
        command.arg(sha).arg(1).arg(&self.name);
        command.arg(offsets.first().map_or(1, Vec::len));
        command.arg(offsets.concat());
        let replies: Vec<i64> = command.query(&mut self.connection)?;
        Ok(replies.into_iter().map(|reply| reply == 1).collect())
    }

    /// Sends one command per bit of an item, and waits for each reply. Returns whether a bit was 0.
    pub(super) fn one_by_one(&mut self, item: u64, set: bool) -> RedisResult<bool> {
        let mut zeros = 0;
        for offset in self.layout.offsets(item) {
            let mut command = cmd(if set { "SETBIT" } else { "GETBIT" });
            command.arg(&self.name).arg(offset);
            if set {
                command.arg(1);
            }
            zeros += i64::from(command.query::<i64>(&mut self.connection)? == 0);
        }
        Ok(zeros > 0)
    }
}
