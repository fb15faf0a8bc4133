//! Which node has which hash slots: the reply to `CLUSTER SLOTS`.

use redis::Value;

/// The address of a node: host and port.
pub(crate) type Node = (String, u16);

/// The nodes of a cluster, or a single server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Slots(Vec<Range>);

/// The nodes of a range of slots.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Range {
    first: u16,
    last: u16,
    master: Node,
    replicas: Vec<Node>,
}

impl Slots {
    /// A server that has all slots.
    pub(crate) fn single(server: Node) -> Self {
        Self(vec![Range { first: 0, last: u16::MAX, master: server, replicas: Vec::new() }])
    }

    /// Reads the reply to `CLUSTER SLOTS` of the node at `asked`. Ranges that are not valid are
    /// left out.
    pub(crate) fn of_reply(reply: &Value, asked: &Node) -> Self {
        let Value::Array(ranges) = reply else { return Self(Vec::new()) };
        Self(ranges.iter().filter_map(|range| Range::of_value(range, asked)).collect())
    }

    /// Returns the node that has a slot.
    pub(crate) fn master(&self, slot: u16) -> Option<&Node> {
        self.range(slot).map(|range| &range.master)
    }

    /// Returns the replicas of the node that has a slot.
    pub(crate) fn replicas(&self, slot: u16) -> &[Node] {
        self.range(slot).map_or(&[], |range| &range.replicas)
    }

    /// Returns the masters, some of them several times.
    pub(crate) fn masters(&self) -> impl Iterator<Item = &Node> {
        self.0.iter().map(|range| &range.master)
    }

    /// Returns all nodes, masters first.
    pub(crate) fn nodes(&self) -> impl Iterator<Item = &Node> {
        let replicas = self.0.iter().flat_map(|range| &range.replicas);
        self.masters().chain(replicas)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Records that a node has a slot, as its old node has answered.
    pub(crate) fn moved(&mut self, slot: u16, to: Node) {
        let Some(at) = self.0.iter().position(|range| range.holds(slot)) else {
            self.0.push(Range { first: slot, last: slot, master: to, replicas: Vec::new() });
            return;
        };
        if self.0[at].master == to {
            return;
        }
        // Cut the range into the parts below and above the slot.
        let old = self.0.swap_remove(at);
        if old.first < slot {
            self.0.push(Range { last: slot - 1, ..old.clone() });
        }
        if slot < old.last {
            self.0.push(Range { first: slot + 1, ..old });
        }
        self.0.push(Range { first: slot, last: slot, master: to, replicas: Vec::new() });
    }

    fn range(&self, slot: u16) -> Option<&Range> {
        self.0.iter().find(|range| range.holds(slot))
    }
}

impl Range {
    fn holds(&self, slot: u16) -> bool {
        (self.first..=self.last).contains(&slot)
    }

    /// FORMAT: Redis, `CLUSTER SLOTS`: first slot, last slot, master, replicas.
    fn of_value(value: &Value, asked: &Node) -> Option<Self> {
        let Value::Array(fields) = value else { return None };
        let [Value::Int(first), Value::Int(last), master, replicas @ ..] = &fields[..] else {
            return None;
        };
        Some(Self {
            first: u16::try_from(*first).ok()?,
            last: u16::try_from(*last).ok()?,
            master: node(master, asked)?,
            replicas: replicas.iter().filter_map(|replica| node(replica, asked)).collect(),
        })
    }
}

/// FORMAT: Redis, `CLUSTER SLOTS`: a node is its host, its port, and more. An empty host is that of
/// the node that answers; `?` is an unknown one.
fn node(value: &Value, asked: &Node) -> Option<Node> {
    let Value::Array(fields) = value else { return None };
    let [host, Value::Int(port), ..] = &fields[..] else { return None };
    let host = match host {
        Value::Nil => "",
        Value::BulkString(bytes) => str::from_utf8(bytes).ok()?,
        Value::SimpleString(text) => text,
        _ => return None,
    };
    let host = match host {
        "?" => return None,
        "" => &asked.0,
        host => host,
    };
    Some((host.to_owned(), u16::try_from(*port).ok()?))
}

/// Reads the target of a redirection, such as `3999 127.0.0.1:6381`. An empty host is that of the
/// node that answered.
pub(crate) fn redirection(detail: &str, asked: &Node) -> Option<(u16, Node)> {
    let (slot, address) = detail.split_once(' ')?;
    let (host, port) = address.trim().rsplit_once(':')?;
    let host = if host.is_empty() { &asked.0 } else { host };
    Some((slot.parse().ok()?, (host.to_owned(), port.parse().ok()?)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(text: &str) -> Value {
        Value::BulkString(text.as_bytes().to_vec())
    }

    fn asked() -> Node {
        ("asked".to_owned(), 1)
    }

    #[test]
    fn a_reply_is_read() {
        let node = |host: Value, port| Value::Array(vec![host, Value::Int(port), text("id")]);
        let reply = Value::Array(vec![
            Value::Array(vec![
                Value::Int(0),
                Value::Int(99),
                node(text("a"), 7),
                node(text("b"), 8),
                node(text("?"), 8),
            ]),
            Value::Array(vec![Value::Int(100), Value::Int(200), node(text(""), 9)]),
            Value::Array(vec![Value::Int(300), Value::Int(70_000), node(text("a"), 9)]),
            Value::Int(1),
        ]);
        let slots = Slots::of_reply(&reply, &asked());
        assert_eq!(slots.master(99), Some(&("a".to_owned(), 7)));
        assert_eq!(slots.replicas(5), [("b".to_owned(), 8)]);
        assert_eq!(slots.master(100), Some(&("asked".to_owned(), 9)));
        assert_eq!((slots.replicas(100).len(), slots.master(300)), (0, None));
        assert!(slots.replicas(300).is_empty());
        assert_eq!(slots.nodes().count(), 3);
        assert!(Slots::of_reply(&Value::Nil, &asked()).is_empty());
    }

    #[test]
    fn a_moved_slot_leaves_the_others() {
        let mut slots = Slots::single(asked());
        let other = ("b".to_owned(), 2);
        for slot in [0, 77, u16::MAX, 77] {
            slots.moved(slot, other.clone());
        }
        for slot in [1, 76, 78, 16_383] {
            assert_eq!(slots.master(slot), Some(&asked()), "{slot}");
        }
        assert!([0, 77, u16::MAX].iter().all(|slot| slots.master(*slot) == Some(&other)));
    }

    #[test]
    fn a_redirection_is_read() {
        let to = |detail| redirection(detail, &asked());
        assert_eq!(to("3999 127.0.0.1:6381"), Some((3999, ("127.0.0.1".to_owned(), 6381))));
        assert_eq!(to("3999 ::1:6381"), Some((3999, ("::1".to_owned(), 6381))));
        assert_eq!(to("1 :6381"), Some((1, ("asked".to_owned(), 6381))));
        assert!(
            ["", "x", "1", "1 a", "1 a:b", "99999 a:1"].iter().all(|wrong| to(wrong).is_none())
        );
    }
}
