//! The commands that a filter sends, and what their replies mean. Knows no connection.

use core::time::Duration;

use redis::{Cmd, Value, cmd};

use crate::wire::sizes::{Place, Slice};
use crate::wire::tag::{Identity, State, TAG_BYTES};

/// Reads the tag, sets the bits of items, and reads their old values, all at once.
pub(crate) fn insert(key: &str, slice: &Slice, places: impl Iterator<Item = Place>) -> Cmd {
    let mut command = cmd("BITFIELD");
    command.arg(key).arg("GET").arg("i64").arg(8 * slice.line_bytes());
    for offset in places.flat_map(Place::offsets) {
        command.arg("SET").arg("u1").arg(offset).arg(1);
    }
    command
}

/// Reads the reply to [`insert`]: the state of the key, and whether each item was new to it.
pub(crate) fn inserted(
    reply: &Value,
    identity: Identity,
    places: impl ExactSizeIterator<Item = Place>,
) -> Option<(State, Vec<bool>)> {
    let (tag, mut old) = tag_and_rest(reply)?;
    let mut new = Vec::with_capacity(places.len());
    for place in places {
        let mut zeros = 0;
        for _ in place.offsets() {
            match old.next()? {
                Value::Int(0) => zeros += 1,
                Value::Int(1) => {}
                _ => return None,
            }
        }
        new.push(zeros > 0);
    }
    let complete = old.next().is_none();
    complete.then_some((identity.state(tag), new))
}

/// Reads the tag and the words of items, all at once.
pub(crate) fn query(key: &str, slice: &Slice, places: impl Iterator<Item = Place>) -> Cmd {
    let mut command = cmd("BITFIELD_RO");
    command.arg(key).arg("GET").arg("i64").arg(8 * slice.line_bytes());
    for (word, _) in places.flat_map(Place::words) {
        command.arg("GET").arg("i64").arg(64 * word);
    }
    command
}

/// Reads the reply to [`query`]: the state of the key, and whether each item is in it.
pub(crate) fn queried(
    reply: &Value,
    identity: Identity,
    places: impl ExactSizeIterator<Item = Place>,
) -> Option<(State, Vec<bool>)> {
    let (tag, mut words) = tag_and_rest(reply)?;
    let mut found = Vec::with_capacity(places.len());
    for place in places {
        let mut all = true;
        for (_, bits) in place.words() {
            let Value::Int(word) = words.next()? else { return None };
            // The server reads the highest bit first, the filter the lowest byte.
            all &= bits & !word.cast_unsigned().swap_bytes() == 0;
        }
        found.push(all);
    }
    let complete = words.next().is_none();
    complete.then_some((identity.state(tag), found))
}

/// Reads the tag only. `GETRANGE` reads at any position: a server whose `proto-max-bulk-len` is
/// less than a slice refuses a `BITFIELD` there, also for a slice that does not exist yet.
pub(crate) fn state(key: &str, slice: &Slice) -> Cmd {
    read(key, slice.line_bytes(), slice.line_bytes() + TAG_BYTES)
}

/// Reads the reply to [`state`].
pub(crate) fn stated(reply: &Value, identity: Identity) -> Option<State> {
    let Value::BulkString(tag) = reply else { return None };
    let Ok(tag) = <[u8; TAG_BYTES as usize]>::try_from(&tag[..]) else { return Some(State::Gone) };
    Some(identity.state(i64::from_be_bytes(tag)))
}

/// Counts the ones in bytes of a key.
pub(crate) fn count_range(key: &str, first: u64, end: u64) -> Cmd {
    cmd("BITCOUNT").arg(key).arg(first).arg(end.saturating_sub(1)).take()
}

/// Waits until this number of replicas have all writes of this connection, for at most this time,
/// which is rounded up to milliseconds (0 would be for ever), and cut at 49 days.
pub(crate) fn wait(replicas: u32, time: Duration) -> Cmd {
    let milliseconds = time.as_micros().div_ceil(1000).clamp(1, u32::MAX.into());
    cmd("WAIT").arg(replicas).arg(milliseconds as u64).take()
}

pub(crate) fn get(key: &str) -> Cmd {
    cmd("GET").arg(key).take()
}

/// Reads all fields of a hash.
pub(crate) fn get_all(key: &str) -> Cmd {
    cmd("HGETALL").arg(key).take()
}

/// Reads bytes of a key.
pub(crate) fn read(key: &str, first: u64, end: u64) -> Cmd {
    cmd("GETRANGE").arg(key).arg(first).arg(end.saturating_sub(1)).take()
}

/// Writes bytes into a key.
pub(crate) fn write(key: &str, first: u64, bytes: &[u8]) -> Cmd {
    cmd("SETRANGE").arg(key).arg(first).arg(bytes).take()
}

/// Makes a key empty, which expires.
pub(crate) fn reserve(key: &str, seconds: u64) -> Cmd {
    cmd("SET").arg(key).arg("").arg("EX").arg(seconds).take()
}

/// Lets a key expire.
pub(crate) fn expire(key: &str, seconds: u64) -> Cmd {
    cmd("EXPIRE").arg(key).arg(seconds).take()
}

/// Deletes keys. The server frees their memory in the background.
pub(crate) fn delete(keys: &[String]) -> Cmd {
    cmd("UNLINK").arg(keys).take()
}

/// Returns the tag, the first number of a reply, and the rest.
fn tag_and_rest(reply: &Value) -> Option<(i64, core::slice::Iter<'_, Value>)> {
    let Value::Array(values) = reply else { return None };
    let mut values = values.iter();
    let Some(Value::Int(tag)) = values.next() else { return None };
    Some((*tag, values))
}

/// The size of a tag is that of the numbers that the commands read.
const _: () = assert!(TAG_BYTES == 8);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::sizes::Sizes;

    const IDENTITY: Identity = Identity::of_random(99);

    fn sizes() -> Sizes {
        Sizes::new(10_000, 1e-3, true, None).unwrap()
    }

    /// Returns a reply to an insert or a query.
    fn reply(numbers: &[i64]) -> Value {
        Value::Array(numbers.iter().map(|number| Value::Int(*number)).collect())
    }

    #[test]
    fn replies_to_inserts_are_read() {
        let sizes = sizes();
        let slice = sizes.slice(0);
        let places = [slice.place(1), slice.place(2)];
        let bits: Vec<usize> = places.iter().map(|place| place.offsets().count()).collect();
        let open = i64::from_be_bytes(IDENTITY.tag(false));
        let mut numbers = vec![open];
        // The first item is there, and the second has one bit that was not set.
        numbers.extend(vec![1; bits[0]]);
        numbers.extend(vec![1; bits[1] - 1]);
        numbers.push(0);
        let read = |value: &Value| inserted(value, IDENTITY, places.into_iter());
        assert_eq!(read(&reply(&numbers)), Some((State::Open, vec![false, true])));
        numbers[0] |= 1;
        assert_eq!(read(&reply(&numbers)), Some((State::Closed, vec![false, true])));
        numbers[0] = 0;
        assert_eq!(read(&reply(&numbers)), Some((State::Gone, vec![false, true])));
        // Too many, too few, and other numbers.
        numbers.push(1);
        assert_eq!(read(&reply(&numbers)), None);
        assert_eq!(read(&reply(&numbers[..numbers.len() - 2])), None);
        numbers.pop();
        numbers[1] = 2;
        assert_eq!(read(&reply(&numbers)), None);
        assert_eq!(read(&Value::Nil), None);
        assert_eq!(read(&reply(&[])), None);
    }

    #[test]
    fn replies_to_queries_are_read() {
        let sizes = sizes();
        let slice = sizes.slice(0);
        let place = slice.place(0x1234_5678_9ABC_DEF0);
        let words: Vec<i64> =
            place.words().map(|(_, bits)| bits.swap_bytes().cast_signed()).collect();
        let open = i64::from_be_bytes(IDENTITY.tag(false));
        let read = |words: &[i64]| {
            let numbers = [&[open], words].concat();
            queried(&reply(&numbers), IDENTITY, [place].into_iter())
        };
        assert_eq!(read(&words), Some((State::Open, vec![true])));
        for word in 0..words.len() {
            // One bit of the item less, in the order of the server.
            let mut less = words.clone();
            less[word] &= less[word] - 1;
            assert_eq!(read(&less), Some((State::Open, vec![false])));
        }
        assert_eq!(read(&words[1..]), None);
    }

    #[test]
    fn replies_with_a_tag_are_read() {
        let read = |bytes: &[u8]| stated(&Value::BulkString(bytes.to_vec()), IDENTITY);
        assert_eq!(read(&IDENTITY.tag(false)), Some(State::Open));
        assert_eq!(read(&IDENTITY.tag(true)), Some(State::Closed));
        // A key that is gone, was cut, or was written without a tag.
        for bytes in [&[][..], &IDENTITY.tag(true)[..7], &[0; 8]] {
            assert_eq!(read(bytes), Some(State::Gone));
        }
        assert_eq!(stated(&Value::Nil, IDENTITY), None);
    }

    /// The layout of a command is fixed: clients of different releases must agree.
    #[test]
    fn commands_have_the_documented_form() {
        let sizes = Sizes::new(100, 0.01, false, Some(1)).unwrap();
        let slice = sizes.slice(0);
        let text = |command: Cmd| {
            let packed = command.get_packed_command();
            let text = String::from_utf8_lossy(&packed).into_owned();
            let lines = text.split("\r\n").skip(2).step_by(2);
            lines.collect::<Vec<_>>().join(" ")
        };
        let place = slice.place(3 << 60);
        let tag = 8 * slice.line_bytes();
        let sets: Vec<String> = place.offsets().map(|at| format!("SET u1 {at} 1")).collect();
        let insert = text(insert("k", slice, [place].into_iter()));
        assert_eq!(insert, format!("BITFIELD k GET i64 {tag} {}", sets.join(" ")));
        let gets: Vec<String> =
            place.words().map(|(word, _)| format!("GET i64 {}", 64 * word)).collect();
        let query = text(query("k", slice, [place].into_iter()));
        assert_eq!(query, format!("BITFIELD_RO k GET i64 {tag} {}", gets.join(" ")));
        assert_eq!(text(count_range("k", 0, 64)), "BITCOUNT k 0 63");
        let tag = slice.line_bytes();
        assert_eq!(text(state("k", slice)), format!("GETRANGE k {tag} {}", tag + 7));
        let waits = [Duration::ZERO, Duration::from_micros(1), Duration::from_micros(1001)];
        assert_eq!(waits.map(|time| text(wait(1, time))), ["WAIT 1 1", "WAIT 1 1", "WAIT 1 2"]);
        assert_eq!(text(wait(2, Duration::MAX)), "WAIT 2 4294967295");
    }
}
