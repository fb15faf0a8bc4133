//! The lives of a filter: the identities that filters of one name have had, and what is stored
//! about them. Knows no connection.
//!
//! Each filter has an identity, which is a part of its keys' names. The hash `{name}:lives` has a
//! record for each identity whose keys may exist: it is written before the first of these keys, and
//! removed after the last. So every key can be found and removed without a scan of the server,
//! whichever client was killed when. The hash and the descriptor are in one slot, and each change
//! of both is one script.

use redis::{Cmd, Value};

use crate::wire::scripts::script;
use crate::wire::tag::Identity;

/// How long a client that creates a filter may be silent, until another takes its place. Clients
/// renew the time three times as often.
pub(crate) const LEASE_MS: u64 = 10_000;

/// How long after its end a life is swept again: a command of its clients may come late. A client
/// learns from the reply to its first command that its filter has gone, so a key that is written
/// after the sweep comes from one that was killed before it read that reply.
const KEPT_MS: u64 = 3_600_000;

/// How long the list of lives is kept where no filter is: the next deletion or creation of the
/// name, if it comes within this time, finds what remains of them.
const LISTED_MS: u64 = 7 * 24 * KEPT_MS;

/// The most lives of those that ended last, and of those that ended first, that a deletion sweeps
/// again. A program that creates and deletes filters in a loop has thousands of them in an hour.
const SWEPT_AGAIN: usize = 64;

/// Reads the server's clock, in milliseconds.
macro_rules! now {
    () => {
        "local time = redis.call('TIME') \
         local now = string.format('%.0f', time[1] * 1000 + math.floor(time[2] / 1000)) "
    };
}

/// Begins a life, and stores the descriptor of a filter that is not ready. Returns 1; 0 if there is
/// a filter, or another client creates one; -1 if a life is ready, and its descriptor is lost. A
/// creation whose client has been silent for too long is ended. (A time too far ahead is that of a
/// clock which was set back.) If this life has begun, returns 1 as well, so it can be repeated.
///
/// `KEYS` the descriptor, the lives; `ARGV` the life, the descriptor, the rest of the record.
const BEGIN: &str = concat!(
    now!(),
    "local there = redis.call('EXISTS', KEYS[1]) == 1 local free = not there \
     local lives = redis.call('HGETALL', KEYS[2]) local ended = {} \
     for i = 1, #lives, 2 do \
     local state, since, rest = string.match(lives[i + 1], '^(%a+) (%d+) (.*)$') \
     if lives[i] == ARGV[1] then return state == 'creating' and 1 or 0 end \
     if state == 'ready' then return there and 0 or -1 end \
     if state == 'creating' then \
     if there and tonumber(now) < tonumber(since) and since - now <= tonumber(ARGV[4]) then \
     return 0 end free = true \
     ended[#ended + 1] = lives[i] ended[#ended + 1] = 'ended ' .. now .. ' ' .. rest end end \
     if not free then return 0 end \
     if #ended > 0 then redis.call('HSET', KEYS[2], unpack(ended)) end \
     redis.call('SET', KEYS[1], ARGV[2]) \
     redis.call('HSET', KEYS[2], ARGV[1], \
     'creating ' .. string.format('%.0f', now + ARGV[4]) .. ' ' .. ARGV[3]) \
     redis.call('PERSIST', KEYS[2]) return 1"
);

/// Renews the time of a client that creates a filter. Returns 0 if it has lost it.
///
/// `KEYS[1]` the lives; `ARGV` the life, the rest of the record, the time.
const RENEW: &str = concat!(
    now!(),
    "local life = redis.call('HGET', KEYS[1], ARGV[1]) \
     if not life or string.sub(life, 1, 9) ~= 'creating ' then return 0 end \
     redis.call('HSET', KEYS[1], ARGV[1], \
     'creating ' .. string.format('%.0f', now + ARGV[3]) .. ' ' .. ARGV[2]) return 1"
);

/// Makes a filter ready. Returns 0 if the client has lost it. It can be repeated.
///
/// `KEYS` the descriptor, the lives; `ARGV` the life, its descriptor before, and after, the rest of
/// the record.
const PUBLISH: &str = concat!(
    now!(),
    "local text = redis.call('GET', KEYS[1]) if text == ARGV[3] then return 1 end \
     if text ~= ARGV[2] then return 0 end \
     redis.call('SET', KEYS[1], ARGV[3]) \
     redis.call('HSET', KEYS[2], ARGV[1], 'ready ' .. now .. ' ' .. ARGV[4]) return 1"
);

/// Ends lives that are being created, or that are ready, and deletes the descriptor of each; and
/// the descriptor if it has this text. It ends no other life: the command may come late, and be
/// executed when there is another filter. Returns whether a descriptor was deleted, and all records
/// as they are then.
///
/// `KEYS` the descriptor, the lives; `ARGV` 1 if lives that are ready end too, the text or an empty
/// one, then the lives.
const END: &str = concat!(
    now!(),
    "local lives = redis.call('HGETALL', KEYS[2]) \
     local there, named = 0, {} for i = 3, #ARGV do named[ARGV[i]] = true end \
     if ARGV[2] ~= '' and redis.pcall('GET', KEYS[1]) == ARGV[2] then \
     there = redis.call('DEL', KEYS[1]) end \
     for i = 1, #lives, 2 do if named[lives[i]] then \
     local state, rest = string.match(lives[i + 1], '^(%a+) %d+ (.*)$') \
     if state == 'creating' or ARGV[1] == '1' and state == 'ready' then \
     there = math.max(there, redis.call('DEL', KEYS[1])) \
     lives[i + 1] = 'ended ' .. now .. ' ' .. rest \
     redis.call('HSET', KEYS[2], lives[i], lives[i + 1]) end end end \
     if #lives > 0 then redis.call('PERSIST', KEYS[2]) end return {there, lives}"
);

/// Records that lives have no keys any more, and forgets those that ended long ago. If there is no
/// filter and nothing is left to do, the whole hash expires. A server without memory executes a
/// script to its end if the first command that writes frees memory.
///
/// `KEYS` the descriptor, the lives; `ARGV` the time to keep a life, and the list, then the lives.
const SWEPT: &str = concat!(
    now!(),
    "for i = 3, #ARGV do local life = redis.call('HGET', KEYS[2], ARGV[i]) \
     local state, since, rest = string.match(life or '', '^(%a+) (%d+) (.*)$') \
     if state == 'ended' or state == 'swept' then redis.call('HDEL', KEYS[2], ARGV[i]) \
     if now - since <= tonumber(ARGV[1]) then \
     redis.call('HSET', KEYS[2], ARGV[i], 'swept ' .. since .. ' ' .. rest) end end end \
     for _, life in ipairs(redis.call('HVALS', KEYS[2])) do \
     if string.sub(life, 1, 6) ~= 'swept ' then return 0 end end \
     if redis.call('EXISTS', KEYS[1]) == 0 then redis.call('PEXPIRE', KEYS[2], ARGV[2]) end return 1"
);

/// What is recorded about an identity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Life {
    pub(crate) identity: Identity,
    pub(crate) state: State,
    /// When it came into this state, or ended: in milliseconds, by the server's clock.
    pub(crate) since: u64,
    pub(crate) shards: u32,
    /// Whether its shards have epochs.
    pub(crate) window: bool,
}

/// The state of a life.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    /// A client creates its keys.
    Creating,
    /// It is the filter.
    Ready,
    /// It is over, and keys may remain.
    Ended,
    /// It is over, and its keys were removed. A command that comes late may write one.
    Swept,
}

impl Life {
    /// Returns what the record says behind the state and its time.
    fn rest(&self) -> String {
        if self.window { format!("{} window", self.shards) } else { self.shards.to_string() }
    }

    /// Returns whether it is the filter, or becomes it.
    pub(crate) const fn is_current(&self) -> bool {
        matches!(self.state, State::Creating | State::Ready)
    }

    /// Reads a field of the hash and its value.
    fn of_record(identity: &Value, record: &Value) -> Option<Self> {
        let mut words = text(record)?.split(' ');
        let state = match words.next()? {
            "creating" => State::Creating,
            "ready" => State::Ready,
            "ended" => State::Ended,
            "swept" => State::Swept,
            _ => return None,
        };
        let since = words.next()?.parse().ok()?;
        let shards = words.next()?.parse().ok()?;
        let window = words.next() == Some("window");
        Some(Self { identity: Identity::of_digits(text(identity)?)?, state, since, shards, window })
    }
}

fn text(value: &Value) -> Option<&str> {
    match value {
        Value::BulkString(bytes) => str::from_utf8(bytes).ok(),
        _ => None,
    }
}

/// Returns the lives of a reply. Fields that are not valid are left out.
pub(crate) fn of_reply(reply: &Value) -> Vec<Life> {
    let Value::Array(fields) = reply else { return Vec::new() };
    let records = fields.as_chunks::<2>().0.iter();
    records.filter_map(|[identity, record]| Life::of_record(identity, record)).collect()
}

/// Leaves out lives that were swept, if there are too many: neither the last nor the first to end.
pub(crate) fn limit(lives: &mut Vec<Life>) {
    let mut swept: Vec<u64> = lives
        .iter()
        .filter_map(|life| (life.state == State::Swept).then_some(life.since))
        .collect();
    swept.sort_unstable();
    if swept.len() > 2 * SWEPT_AGAIN {
        let between = swept[SWEPT_AGAIN]..swept[swept.len() - SWEPT_AGAIN];
        lives.retain(|life| life.state != State::Swept || !between.contains(&life.since));
    }
}

/// The keys of a name that are in the slot of its descriptor.
pub(crate) struct Keys {
    pub(crate) descriptor: String,
    pub(crate) lives: String,
}

impl Keys {
    /// Begins a life with its descriptor, which states that it is not ready. Replies 1, 0 if there
    /// is a filter already, or -1 if there is one without a descriptor.
    pub(crate) fn begin(&self, life: &Life, descriptor: &str) -> Cmd {
        let mut command = script(BEGIN, &[&self.descriptor, &self.lives]);
        command.arg(life.identity.to_string()).arg(descriptor).arg(life.rest()).arg(LEASE_MS);
        command
    }

    /// Renews the time of the client that creates a filter. Replies 0 if it has lost it.
    pub(crate) fn renew(&self, life: &Life) -> Cmd {
        let mut command = script(RENEW, &[&self.lives]);
        command.arg(life.identity.to_string()).arg(life.rest()).arg(LEASE_MS);
        command
    }

    /// Makes a filter ready. Replies 0 if its client has lost it.
    pub(crate) fn publish(&self, life: &Life, [creating, ready]: [&str; 2]) -> Cmd {
        let mut command = script(PUBLISH, &[&self.descriptor, &self.lives]);
        command.arg(life.identity.to_string()).arg(creating).arg(ready).arg(life.rest());
        command
    }

    /// Ends these lives. If they may be ready, the filter ends with them, and so does a descriptor
    /// of this text. [`ended`] reads the reply.
    pub(crate) fn end(&self, lives: &[Identity], ready: bool, descriptor: &[u8]) -> Cmd {
        let mut command = script(END, &[&self.descriptor, &self.lives]);
        command.arg(u8::from(ready)).arg(descriptor);
        lives.iter().for_each(|life| _ = command.arg(life.to_string()));
        command
    }

    /// Records that lives have no keys.
    pub(crate) fn swept(&self, lives: &[Life]) -> Cmd {
        let mut command = script(SWEPT, &[&self.descriptor, &self.lives]);
        command.arg(KEPT_MS).arg(LISTED_MS);
        lives.iter().for_each(|life| _ = command.arg(life.identity.to_string()));
        command
    }
}

/// Reads the reply to [`Keys::end`]: whether a descriptor was deleted, and the lives.
pub(crate) fn ended(reply: &Value) -> Option<(bool, Vec<Life>)> {
    let Value::Array(values) = reply else { return None };
    let [Value::Int(there), lives] = &values[..] else { return None };
    Some((*there == 1, of_reply(lives)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_are_read() {
        let text = |text: &str| Value::BulkString(text.as_bytes().to_vec());
        let life = Identity::of_u64(0x13).unwrap();
        let digits = text(&life.to_string());
        let read = |record: &str| Life::of_record(&digits, &text(record));
        for (word, state) in [
            ("creating", State::Creating),
            ("ready", State::Ready),
            ("ended", State::Ended),
            ("swept", State::Swept),
        ] {
            for window in [false, true] {
                let since = 1_790_000_000_000;
                let expected = Life { identity: life, state, since, shards: 16, window };
                let record = format!("{word} {since} {}", expected.rest());
                assert_eq!(read(&record), Some(expected));
            }
            let expected = Life { identity: life, state, since: 1, shards: 16, window: false };
            // A later release may add words.
            assert_eq!(read(&format!("{word} 1 16 more")), Some(expected));
        }
        for wrong in ["", "ready", "ready 1", "ready 1 x", "ready 1 -1", "other 1 16"] {
            assert_eq!(read(wrong), None, "{wrong:?}");
        }
        let reply = Value::Array(vec![text("no"), text("ready 1 16"), digits, text("ready 1 16")]);
        assert_eq!(of_reply(&reply).len(), 1);
        assert!(of_reply(&Value::Nil).is_empty());
        assert_eq!(
            ended(&Value::Array(vec![Value::Int(1), reply])).map(|(_, all)| all.len()),
            Some(1)
        );
        assert_eq!(ended(&Value::Nil), None);
    }

    /// Lives that were not swept stay, and of the others the first and the last.
    #[test]
    fn a_deletion_sweeps_a_limited_number_again() {
        let identity = Identity::of_u64(1).unwrap();
        let life = |since: u64| {
            let state = if since.is_multiple_of(1000) { State::Ended } else { State::Swept };
            Life { identity, state, since, shards: 16, window: false }
        };
        let mut lives: Vec<Life> = (1..=5000).rev().map(life).collect();
        limit(&mut lives);
        let mut left: Vec<u64> = lives.iter().map(|life| life.since).collect();
        left.sort_unstable();
        let expected: Vec<u64> =
            (1..=64).chain([1000, 2000, 3000, 4000]).chain(4936..=5000).collect();
        assert_eq!(left, expected);
        // Few enough.
        let mut lives: Vec<Life> = (1..=128).map(life).collect();
        limit(&mut lives);
        assert_eq!(lives.len(), 128);
    }
}
