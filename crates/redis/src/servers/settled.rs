//! Finds out whether a key that seems to be missing is lost: while a slot moves, its keys are on
//! two nodes.

use futures_util::future::try_join_all;
use redis::{Cmd, Value, cmd};
use tokio::time::{Instant, timeout_at};

use crate::servers::nodes::Use;
use crate::servers::router::{NO_RIGHT, Router, no_cluster};
use crate::servers::slots::Node;
use crate::servers::stream::Trouble;

/// What the owner of a slot says.
#[derive(Debug)]
pub(crate) enum Settled {
    /// It has the slot alone, and this is its reply.
    Reply(Value),
    /// The slot moves, or its owner is not known for certain: the reply would prove nothing. Why.
    Moving(String),
}

impl Router {
    /// Sends a command to the primary that has a slot. Its reply is a proof only if no slot moves:
    /// first, no other primary imports the slot, and then, the owner replies by itself, instead of
    /// naming another node for a missing key.
    ///
    /// A replica that takes the place of a primary does not know of its migration. So the others
    /// are asked, too.
    pub(crate) async fn settled(&self, slot: u16, command: Cmd, end: Instant) -> Settled {
        let late = || Err(Trouble::passing("a node has not answered before the deadline"));
        let found = timeout_at(end, self.find_settled(slot, command)).await;
        found.unwrap_or_else(|_| late()).unwrap_or_else(|trouble| {
            Settled::Moving(format!("the state of slot {slot} is not known: {}", trouble.reason))
        })
    }

    async fn find_settled(&self, slot: u16, command: Cmd) -> Result<Settled, Trouble> {
        _ = self.refresh().await;
        let (owner, others) = {
            let known = self.known();
            let owner = known.slots.master(slot).cloned();
            let owner = owner.ok_or_else(|| Trouble::passing("no node has it"))?;
            let mut others: Vec<Node> = known.slots.masters().cloned().collect();
            others.sort();
            others.dedup();
            others.retain(|node| *node != owner);
            (owner, others)
        };
        // All at once: each of them may be gone without a word.
        let asked = try_join_all(others.iter().map(|node| self.importing(node, slot))).await?;
        if let Some(reason) = asked.into_iter().flatten().next() {
            return Ok(Settled::Moving(reason));
        }
        let mut connection = self.nodes.connection(&owner, Use::Shared).await?;
        Ok(match self.ask(&mut connection, command).await? {
            Value::ServerError(error) => {
                let details = error.details().unwrap_or_default();
                let to = details.rsplit(' ').next().unwrap_or_default();
                match error.code() {
                    "ASK" => Settled::Moving(moves(slot, &name(&owner), to)),
                    code => Settled::Moving(format!("slot {slot}: {code} {details}")),
                }
            }
            reply => Settled::Reply(reply),
        })
    }

    /// Asks a node whether it imports a slot. Returns why the slot counts as moving, if it does.
    async fn importing(&self, node: &Node, slot: u16) -> Result<Option<String>, Trouble> {
        let mut connection = self.nodes.connection(node, Use::Shared).await?;
        match self.ask(&mut connection, cmd("CLUSTER").arg("NODES").take()).await? {
            Value::ServerError(error) if error.code() == NO_RIGHT => {
                let reason = "this user may not ask a node which slots move (CLUSTER NODES)";
                Ok(Some(format!("slot {slot}: {reason}")))
            }
            Value::ServerError(error) if no_cluster(&error) => Ok(None),
            Value::BulkString(text) => {
                let from = imports(&String::from_utf8_lossy(&text), slot);
                Ok(from.map(|from| moves(slot, &from, &name(node))))
            }
            other => Err(Trouble::passing(format!("{other:?}"))),
        }
    }
}

fn moves(slot: u16, from: &str, to: &str) -> String {
    format!("slot {slot} moves from {from} to {to}, and a key of the filter is not found meanwhile")
}

fn name(node: &Node) -> String {
    format!("{}:{}", node.0, node.1)
}

/// Returns from which node the node that answers imports a slot.
///
/// FORMAT: Redis, `CLUSTER NODES`: id, address, flags, and after the eighth field the slots.
/// `[93-<-id]` is imported.
fn imports(nodes: &str, slot: u16) -> Option<String> {
    let fields = |line: &str| line.split(' ').map(str::to_owned).collect::<Vec<String>>();
    let lines: Vec<Vec<String>> = nodes.lines().map(fields).collect();
    let own = lines.iter().find(|line| {
        line.get(2).is_some_and(|flags| flags.split(',').any(|flag| flag == "myself"))
    })?;
    let start = format!("[{slot}-<-");
    let id = own.iter().skip(8).find_map(|part| part.strip_prefix(&start)?.strip_suffix(']'))?;
    let from = lines.iter().find(|line| line[0] == id).and_then(|line| line.get(1));
    let address = from.map_or(id, |address| address.split(['@', ',']).next().unwrap_or(address));
    Some(address.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_import_is_found() {
        let nodes = "\
aa 10.0.0.1:7000@17000,host master - 0 1 1 connected 0-5460 [7-<-bb]\n\
bb 10.0.0.2:7001@17001 myself,master - 0 1 2 connected 5461-9999 [93-<-aa] [77->-aa] [5-<-zz]\n";
        assert_eq!(imports(nodes, 93).as_deref(), Some("10.0.0.1:7000"));
        // A node that is not known, an import of another node, and a slot that goes away.
        assert_eq!(imports(nodes, 5).as_deref(), Some("zz"));
        assert_eq!([7, 77, 9, 0].map(|slot| imports(nodes, slot)), [const { None }; 4]);
        assert_eq!(imports("", 5), None);
        assert_eq!(imports("aa\n\nx y z", 5), None);
    }
}
