//! The scripts that change a shard with epochs, and what their replies mean. Knows no connection.
//!
//! Each of them compares the list of the shard with the one that the client knows, before anything
//! else: the keys that the client names are those of that list. All times are milliseconds of the
//! clock of the master that runs the script. A key of bits expires before it has any: a script that
//! fails in the middle leaves none that stays.

use redis::{Cmd, Value, cmd};

use super::Window;
use super::epochs::Epochs;
use super::round::Reply;
use crate::wire::scripts::script;
use crate::wire::sizes::{Sizes, Slice};
use crate::wire::tag::{Identity, TAG_BYTES};

/// Inserts items.
///
/// `KEYS`: the list, the bits of its epochs, and perhaps those of the next epoch. `ARGV`: the list,
/// the tag, the times of an epoch, of its life, and of its keys; the number of slices, of
/// items, and a `1` for each item that is counted; for each slice the position of the tag, the
/// bits of an item, and the last byte of the sample; then for each item its bits in each
/// slice.
///
/// Returns `0` and the list, if it is another; `1`, if the newest epoch has ended and the key of
/// the next is not named; `2` and the slice that is missing; or `3`, the list, a digit for
/// each item, and the ones in the sample, or -1 if it cannot be counted.
const INSERT: &str = "\
local list = redis.call('GET', KEYS[1])
if list ~= ARGV[1] then return {0, list} end
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local newest = tonumber(string.match(list, ':(-?%d+):%d+$'))
if now < newest then
  list = string.gsub(list, ':(-?%d+):', function(start)
    return string.format(':%.0f:', start - newest + now)
  end)
  redis.call('SET', KEYS[1], list)
  newest = now
end
local tag, life, slices = ARGV[2], tonumber(ARGV[4]), tonumber(ARGV[6])
local keys, of, due, live, at, last = {}, {}, {}, string.sub(list, 1, 16), 1, 0
for number, start, open in string.gmatch(list, ' (%d+):(-?%d+):(%d+)') do
  local counts = now < start + life
  if counts then live = live .. ' ' .. number .. ':' .. start .. ':' .. open end
  for slice = 0, tonumber(open) do
    at = at + 1
    if counts then
      local first = ARGV[9 + 3 * slice]
      if redis.call('GETRANGE', KEYS[at], first, first + 7) ~= tag then return {2, slice} end
      keys[#keys + 1], of[#of + 1] = KEYS[at], slice
    else
      due[#due + 1] = KEYS[at]
    end
  end
  last = tonumber(number)
end
if now >= newest + ARGV[3] then
  local key = KEYS[at + 1]
  if not key then return {1} end
  for _, old in ipairs(due) do redis.call('UNLINK', old) end
  redis.call('SET', key, '', 'PX', ARGV[5])
  redis.call('SETRANGE', key, ARGV[9], tag)
  list = live .. string.format(' %.0f:%.0f:0', last + 1, now)
  redis.call('SET', KEYS[1], list)
  keys[#keys + 1], of[#of + 1] = key, 0
end
local from, bits, width = {}, {}, 0
for slice = 0, slices - 1 do
  from[slice], bits[slice] = width, tonumber(ARGV[10 + 3 * slice])
  width = width + bits[slice]
end
local verdicts, full, first = {}, false, 9 + 3 * slices
local open, into = keys[#keys], of[#of]
for item = 1, tonumber(ARGV[7]) do
  local known = false
  for key = 1, #keys - 1 do
    local bit = first + from[of[key]]
    known = true
    for bit = bit, bit + bits[of[key]] - 1 do
      if redis.call('GETBIT', keys[key], ARGV[bit]) == 0 then known = false break end
    end
    if known then break end
  end
  local new = '0'
  if not known then
    local bit = first + from[into]
    for bit = bit, bit + bits[into] - 1 do
      if redis.call('SETBIT', open, ARGV[bit], 1) == 0 then new = '1' end
    end
  end
  if new == '1' and string.sub(ARGV[8], item, item) == '1' then full = true end
  verdicts[item] = new
  first = first + width
end
local ones = 0
if full then ones = redis.pcall('BITCOUNT', open, 0, ARGV[11 + 3 * into]) end
if type(ones) ~= 'number' then ones = -1 end
return {3, list, table.concat(verdicts), ones}";

/// Creates the list and the first epoch, unless the list is there: then another attempt has done
/// so. Returns the list.
///
/// `KEYS`: the list, the bits. `ARGV`: the identity, the tag, its position, how long the bits are
/// kept.
const CREATE: &str = "\
local list = redis.call('GET', KEYS[1])
if list then return list end
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('SET', KEYS[2], '', 'PX', ARGV[4])
redis.call('SETRANGE', KEYS[2], ARGV[3], ARGV[2])
list = ARGV[1] .. string.format(' 0:%.0f:0', now)
redis.call('SET', KEYS[1], list)
return list";

/// Creates the next slice of the newest epoch, and returns the new list in an array. If the
/// list is another, returns only that.
///
/// `KEYS`: the list, the bits of the next slice. `ARGV`: the list, the list with the next
/// slice, the tag, its position, until when the bits are kept.
const GROW: &str = "\
local list = redis.call('GET', KEYS[1])
if list ~= ARGV[1] then return list end
local time = redis.call('TIME')
local left = ARGV[5] - time[1] * 1000 - math.floor(time[2] / 1000)
redis.call('SET', KEYS[2], '', 'PX', string.format('%.0f', math.max(left, 1)))
redis.call('SETRANGE', KEYS[2], ARGV[4], ARGV[3])
redis.call('SET', KEYS[1], ARGV[2])
return {ARGV[2]}";

/// Deletes the list and the bits of its epochs. Returns the list if it is another, and nothing if
/// it is gone.
///
/// `KEYS`: the list, the bits of its epochs. `ARGV`: the list.
const DELETE: &str = "\
local list = redis.call('GET', KEYS[1])
if list ~= ARGV[1] then return list end
redis.call('UNLINK', unpack(KEYS))
return false";

/// Inserts the items with these hashes. `keys`: those of the list `epochs`, and perhaps the first
/// of the next epoch.
pub(crate) fn insert(
    keys: &[String],
    epochs: &Epochs,
    identity: Identity,
    sizes: &Sizes,
    window: Window,
    hashes: &[u64],
) -> Cmd {
    let slices: Vec<&Slice> = (0..epochs.slices()).map(|number| sizes.slice(number)).collect();
    let mut command = script(INSERT, keys);
    command.arg(epochs.text()).arg(&identity.tag(false));
    command.arg(window.epoch()).arg(window.life()).arg(window.kept());
    command.arg(slices.len()).arg(hashes.len());
    let open = sizes.slice(epochs.newest().open);
    let counted = |hash: &u64| sizes.grows() && open.is_sampled(sizes.shards, *hash);
    let counted: String = hashes.iter().map(|hash| if counted(hash) { '1' } else { '0' }).collect();
    command.arg(counted);
    for slice in &slices {
        command.arg(slice.line_bytes()).arg(slice.geometry.probes());
        command.arg(slice.sample_bytes() - 1);
    }
    for hash in hashes {
        for slice in &slices {
            // Two probes may be one bit. Each item has as many arguments as any other.
            let probes = slice.geometry.probes() as usize;
            let bits: Vec<u64> = slice.place(*hash).offsets().collect();
            let last = bits.last().copied().unwrap_or(0);
            bits.iter().chain(core::iter::repeat(&last)).take(probes).for_each(|bit| {
                command.arg(*bit);
            });
        }
    }
    command
}

/// Reads the reply to [`insert`] of this number of items. `read`: reads a list.
pub(crate) fn inserted(
    reply: &Value,
    items: usize,
    read: impl Fn(&Value) -> Option<Epochs>,
) -> Option<Reply> {
    let Value::Array(values) = reply else { return None };
    match values.as_slice() {
        [Value::Int(0), list] => Some(Reply::Other(read(list))),
        [Value::Int(1)] => Some(Reply::Ended),
        [Value::Int(2), Value::Int(slice)] => Some(Reply::Lost(u32::try_from(*slice).ok()?)),
        [Value::Int(3), list, Value::BulkString(verdicts), Value::Int(ones)] => {
            let digit = |digit: &u8| match digit {
                b'0' => Some(false),
                b'1' => Some(true),
                _ => None,
            };
            let verdicts: Vec<bool> = verdicts.iter().map(digit).collect::<Option<_>>()?;
            let complete = verdicts.len() == items;
            complete.then(|| Reply::Done(read(list), verdicts, u64::try_from(*ones).ok()))
        }
        _ => None,
    }
}

/// Creates a shard. `keys`: the list, the first slice of the first epoch.
pub(crate) fn create(keys: &[String], identity: Identity, slice: &Slice, window: Window) -> Cmd {
    let mut command = script(CREATE, keys);
    command.arg(identity.to_string()).arg(&identity.tag(false));
    command.arg(slice.line_bytes()).arg(window.kept());
    command
}

/// Grows the newest epoch. `keys`: the list, the next slice.
pub(crate) fn grow(
    keys: &[String],
    epochs: &Epochs,
    identity: Identity,
    next: &Slice,
    window: Window,
) -> Cmd {
    let mut command = script(GROW, keys);
    command.arg(epochs.text()).arg(epochs.grown(identity).text());
    command.arg(&identity.tag(false)).arg(next.line_bytes());
    command.arg(epochs.newest().start.saturating_add_unsigned(window.kept()));
    command
}

/// Deletes a shard. `keys`: the list, and those of its epochs.
pub(crate) fn delete(keys: &[String], epochs: &Epochs) -> Cmd {
    script(DELETE, keys).arg(epochs.text()).take()
}

/// Asks for the time of a server.
pub(crate) fn time() -> Cmd {
    cmd("TIME")
}

/// Reads the reply to [`time`], in milliseconds.
pub(crate) fn milliseconds(reply: &Value) -> Option<i64> {
    let Value::Array(values) = reply else { return None };
    let [Value::BulkString(seconds), Value::BulkString(micros)] = values.as_slice() else {
        return None;
    };
    let number = |text: &[u8]| str::from_utf8(text).ok()?.parse::<i64>().ok();
    number(seconds)?.checked_mul(1000)?.checked_add(number(micros)? / 1000)
}

/// The scripts read as many bytes.
const _: () = assert!(TAG_BYTES == 8);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replies_are_read_or_refused() {
        let text = |text: &str| Value::BulkString(text.as_bytes().to_vec());
        let read = |values: &[Value]| inserted(&Value::Array(values.to_vec()), 2, |_| None);
        let (zero, list) = (Value::Int(0), text("list"));
        assert_eq!(read(&[zero.clone(), Value::Nil]), Some(Reply::Other(None)));
        assert_eq!(read(&[Value::Int(1)]), Some(Reply::Ended));
        assert_eq!(read(&[Value::Int(2), Value::Int(5)]), Some(Reply::Lost(5)));
        let done = |verdicts| [Value::Int(3), list.clone(), text(verdicts), Value::Int(9)];
        assert_eq!(read(&done("01")), Some(Reply::Done(None, vec![false, true], Some(9))));
        for wrong in [&done("0")[..], &done("0x"), &done("012"), &[zero], &[], &[Value::Int(4)]] {
            assert_eq!(read(wrong), None, "{wrong:?}");
        }
        assert_eq!(inserted(&Value::Nil, 2, |_| None), None);
        let time = |seconds, micros| milliseconds(&Value::Array(vec![text(seconds), text(micros)]));
        assert_eq!(time("1700000000", "123999"), Some(1_700_000_000_123));
        assert_eq!((time("9223372036854775807", "0"), time("x", "0")), (None, None));
        assert_eq!(milliseconds(&Value::Nil), None);
    }

    /// All items have as many arguments, also those with two probes on one bit.
    #[test]
    fn an_insert_has_the_arguments_that_it_announces() {
        let window = Window::of_millis(3000);
        let sizes = window.sizes(1e-3, true, Some(1)).unwrap();
        let identity = Identity::of_random(9);
        let list = vec![
            super::super::epochs::Epoch { number: 0, start: 0, open: 2 },
            super::super::epochs::Epoch { number: 1, start: 5000, open: 0 },
        ];
        let epochs = Epochs::new(identity, list);
        let keys: Vec<String> = (0..5).map(|number| format!("k{number}")).collect();
        let hashes: Vec<u64> = (1..200_u64).map(|item| item << 55 ^ item).collect();
        let command = insert(&keys, &epochs, identity, &sizes, window, &hashes);
        let width: usize =
            (0..3).map(|number| sizes.slice(number).geometry.probes() as usize).sum();
        // The command, the script, the number of keys; the keys; eight, three per slice, and
        // the bits.
        assert_eq!(command.args_iter().count(), 3 + 5 + 8 + 9 + hashes.len() * width);
    }
}
