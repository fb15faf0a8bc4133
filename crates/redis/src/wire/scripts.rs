//! The scripts that change keys with bits: what a server does in one step. Knows no connection.
//!
//! A script is sent as a text. Servers keep the compiled script of a text that they have seen.

use redis::{Cmd, ToRedisArgs, Value, cmd};

use crate::wire::sizes::{Place, Slice};
use crate::wire::tag::{Identity, State};

/// Reads the tag of the key, whose position is `ARGV[1]`.
macro_rules! read_tag {
    () => {
        "local tag = redis.call('GETRANGE', KEYS[1], ARGV[1], ARGV[1] + 7) "
    };
}

/// Creates a key of zeros that ends in a tag. Returns 0 if the key exists.
///
/// `KEYS[1]` the key; `ARGV` the position of the tag, the tag.
const CREATE: &str = "if redis.call('EXISTS', KEYS[1]) == 1 then return 0 end \
redis.call('SETRANGE', KEYS[1], ARGV[1], ARGV[2]) return 1";

/// Grows a shard: closes a key and creates the one of the next slice. Returns 1, or 0 if another
/// client has done so, or -1 if the key is gone.
///
/// While a slice is open, the next has no legitimate key. Whatever is there was written by clients
/// that knew of a growth which a failover has taken back, and is deleted.
///
/// `KEYS` the key, the next; `ARGV` the position of the tag, the open tag, the closed tag, the
/// position of the tag in the next.
const GROW: &str = concat!(
    read_tag!(),
    "if tag == ARGV[3] then return 0 end if tag ~= ARGV[2] then return -1 end \
     redis.call('DEL', KEYS[2]) redis.call('SETRANGE', KEYS[2], ARGV[4], ARGV[2]) \
     redis.call('SETRANGE', KEYS[1], ARGV[1], ARGV[3]) return 1"
);

/// Inserts one item, and grows the shard if a bit was not set before and the key is full then.
/// Returns the state of the key before (0 open, 1 closed, 2 gone), whether the item was new to it,
/// and the growth (0 none, 1 the shard has grown, 2 it failed). Sets no bit in a key that is gone.
///
/// Once a bit is set, no error ends the script: the verdict would be lost. The tag that closes the
/// key is written last.
///
/// `KEYS` and `ARGV[1]` to `ARGV[4]` as for the growth; `ARGV[5]` the last byte of the sample,
/// `ARGV[6]` the bits of a full one; then the offsets of the item's bits.
const INSERT: &str = concat!(
    read_tag!(),
    "if tag ~= ARGV[2] and tag ~= ARGV[3] then return {2, 0, 0} end local new = 0 \
     for i = 7, #ARGV do if redis.call('SETBIT', KEYS[1], ARGV[i], 1) == 0 then new = 1 end end \
     if tag == ARGV[3] then return {1, new, 0} end \
     if new == 0 then return {0, 0, 0} end \
     local function failed(reply) return type(reply) == 'table' and reply.err end \
     local ones = redis.pcall('BITCOUNT', KEYS[1], 0, ARGV[5]) \
     if failed(ones) then return {0, 1, 2} end \
     if ones < tonumber(ARGV[6]) then return {0, 1, 0} end \
     if failed(redis.pcall('DEL', KEYS[2])) \
     or failed(redis.pcall('SETRANGE', KEYS[2], ARGV[4], ARGV[2])) \
     or failed(redis.pcall('SETRANGE', KEYS[1], ARGV[1], ARGV[3])) then return {0, 1, 2} end \
     return {0, 1, 1}"
);

/// Sets the bits of one key in another, and deletes the first. Returns the ones in the sample
/// afterwards; -1 if the key is gone; -2 if the bits are not complete. Then nothing is set.
///
/// The bits have a length and a number of ones that the client has computed. Nobody else writes
/// them, so what is there is a part of what was written. With the same number of ones it is all.
///
/// `KEYS` the key, the bits; `ARGV` the position of the tag, the open tag, the closed tag, the last
/// byte of the sample, the length of the bits, their ones.
const UNITE: &str = concat!(
    read_tag!(),
    "if tag ~= ARGV[2] and tag ~= ARGV[3] then redis.call('DEL', KEYS[2]) return -1 end \
     if redis.call('STRLEN', KEYS[2]) ~= tonumber(ARGV[5]) \
     or redis.call('GETRANGE', KEYS[2], ARGV[1], ARGV[1] + 7) ~= ARGV[2] \
     or redis.call('BITCOUNT', KEYS[2]) ~= tonumber(ARGV[6]) then \
     redis.call('DEL', KEYS[2]) return -2 end \
     redis.call('BITOP', 'OR', KEYS[1], KEYS[1], KEYS[2]) redis.call('DEL', KEYS[2]) \
     return redis.call('BITCOUNT', KEYS[1], 0, ARGV[4])"
);

/// Deletes a key that has no tag of the filter.
///
/// `KEYS[1]` the key; `ARGV` the position of the tag, the open tag, the closed tag.
const REMOVE: &str = concat!(
    read_tag!(),
    "if tag == ARGV[2] or tag == ARGV[3] then return 0 end return redis.call('UNLINK', KEYS[1])"
);

pub(crate) fn create(key: &str, slice: &Slice, identity: Identity) -> Cmd {
    script(CREATE, &[key]).arg(slice.line_bytes()).arg(&identity.tag(false)).take()
}

/// Grows a shard from the first slice to the second.
pub(crate) fn grow(keys: [&str; 2], slices: [&Slice; 2], identity: Identity) -> Cmd {
    let mut command = script(GROW, &keys);
    tags(&mut command, slices[0], identity).arg(slices[1].line_bytes());
    command
}

/// Inserts one item into the first slice, and grows the shard if that is full then.
pub(crate) fn insert(
    keys: [&str; 2],
    slices: [&Slice; 2],
    identity: Identity,
    place: Place,
) -> Cmd {
    let mut command = script(INSERT, &keys);
    tags(&mut command, slices[0], identity).arg(slices[1].line_bytes());
    command.arg(slices[0].sample_bytes() - 1).arg(slices[0].full);
    place.offsets().for_each(|offset| _ = command.arg(offset));
    command
}

/// What became of the growth of a shard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Growth {
    None,
    Done,
    Failed,
}

/// Reads the reply to [`insert`]: the state of the key, whether the item was new to it, and the
/// growth.
pub(crate) fn inserted(reply: &Value) -> Option<(State, bool, Growth)> {
    let Value::Array(values) = reply else { return None };
    let [Value::Int(state), Value::Int(new @ 0..=1), Value::Int(growth)] = values[..] else {
        return None;
    };
    let state = match state {
        0 => State::Open,
        1 => State::Closed,
        2 => State::Gone,
        _ => return None,
    };
    let growth = match growth {
        0 => Growth::None,
        1 => Growth::Done,
        2 => Growth::Failed,
        _ => return None,
    };
    Some((state, new == 1, growth))
}

/// Adds bits to those of a key. `length`: the bytes of the bits, with a tag at their end; `ones`:
/// of both.
pub(crate) fn unite(
    keys: [&str; 2],
    slice: &Slice,
    identity: Identity,
    length: u64,
    ones: u64,
) -> Cmd {
    let mut command = script(UNITE, &keys);
    tags(&mut command, slice, identity).arg(slice.sample_bytes() - 1);
    command.arg(length).arg(ones);
    command
}

/// Deletes a key, unless it has a tag of the filter.
pub(crate) fn remove(key: &str, slice: &Slice, identity: Identity) -> Cmd {
    let mut command = script(REMOVE, &[key]);
    tags(&mut command, slice, identity);
    command
}

/// Begins a command that runs a script.
pub(crate) fn script(text: &str, keys: &[impl ToRedisArgs]) -> Cmd {
    cmd("EVAL").arg(text).arg(keys.len()).arg(keys).take()
}

/// Adds the position of the tag, and the tag of an open and of a closed key.
fn tags<'c>(command: &'c mut Cmd, slice: &Slice, identity: Identity) -> &'c mut Cmd {
    command.arg(slice.line_bytes()).arg(&identity.tag(false)).arg(&identity.tag(true))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replies_to_counted_inserts_are_read() {
        let reply = |numbers: &[i64]| {
            inserted(&Value::Array(numbers.iter().map(|number| Value::Int(*number)).collect()))
        };
        assert_eq!(reply(&[0, 1, 1]), Some((State::Open, true, Growth::Done)));
        assert_eq!(reply(&[0, 1, 2]), Some((State::Open, true, Growth::Failed)));
        assert_eq!(reply(&[1, 0, 0]), Some((State::Closed, false, Growth::None)));
        assert_eq!(reply(&[2, 0, 0]), Some((State::Gone, false, Growth::None)));
        for wrong in
            [&[][..], &[0, 1], &[0, 1, 0, 0], &[3, 0, 0], &[-1, 0, 0], &[0, 2, 0], &[0, 1, 3]]
        {
            assert_eq!(reply(wrong), None, "{wrong:?}");
        }
        assert_eq!(inserted(&Value::Nil), None);
        assert_eq!(inserted(&Value::Array(vec![Value::Nil; 3])), None);
    }
}
