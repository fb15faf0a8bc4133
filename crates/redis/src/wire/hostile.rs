//! Replies that no server should send: each is read or refused, and none panics.

use proptest::prelude::*;
use redis::Value;

use crate::servers::slots::{Node, Slots, redirection};
use crate::wire::commands;
use crate::wire::descriptor::Descriptor;
use crate::wire::sizes::Sizes;
use crate::wire::tag::Identity;

/// Any reply, nested to some depth. Numbers are often those that have a meaning.
fn reply() -> impl Strategy<Value = Value> {
    let number = prop_oneof![Just(0), Just(1), Just(-1), 0..20_000_i64, any::<i64>()];
    let leaf = prop_oneof![
        Just(Value::Nil),
        Just(Value::Okay),
        number.prop_map(Value::Int),
        any::<Vec<u8>>().prop_map(Value::BulkString),
        "[a-z0-9.:?]{0,12}".prop_map(Value::SimpleString),
        "[a-z0-9.:?]{0,12}".prop_map(|text| Value::BulkString(text.into_bytes())),
    ];
    leaf.prop_recursive(3, 64, 8, |inner| prop::collection::vec(inner, 0..8).prop_map(Value::Array))
}

proptest! {
    #[test]
    fn any_reply_is_read_or_refused(reply in reply(), hashes in prop::collection::vec(any::<u64>(), 0..4)) {
        let sizes = Sizes::new(1000, 0.01, false, Some(3)).unwrap();
        let slice = sizes.slice(0);
        let places = || hashes.iter().map(|hash| slice.place(*hash)).collect::<Vec<_>>();
        let identity = Identity::of_random(5);
        for read in [
            commands::inserted(&reply, identity, places().into_iter()),
            commands::queried(&reply, identity, places().into_iter()),
        ] {
            prop_assert!(read.is_none_or(|(_, answers)| answers.len() == hashes.len()));
        }
    }

    #[test]
    fn any_slots_are_read_or_refused(reply in reply(), slot: u16, moved: u16) {
        let mut slots = Slots::of_reply(&reply, &Node::default());
        _ = slots.master(slot);
        _ = slots.replicas(slot);
        slots.moved(moved, ("host".to_owned(), 1));
        prop_assert_eq!(slots.master(moved), Some(&("host".to_owned(), 1)));
    }

    #[test]
    fn any_redirection_is_read_or_refused(text in ".{0,40}") {
        if let Some((_, (host, _))) = redirection(&text, &("asked".to_owned(), 1)) {
            prop_assert!(!host.is_empty());
        }
    }

    /// One byte of a valid descriptor changes, or some are cut off.
    #[test]
    fn any_descriptor_is_read_or_refused(at in 0..400_usize, byte: u8, cut in 0..3000_usize) {
        let sizes = Sizes::new(1000, 0.01, true, Some(3)).unwrap();
        let descriptor = Descriptor::of_sizes(sizes);
        let mut text = descriptor.to_json().into_bytes();
        if let Some(to) = text.get_mut(at) {
            *to = byte;
        }
        text.truncate(cut);
        if let Ok(read) = Descriptor::of_json(&text) {
            // What is read is written and read again.
            prop_assert!(Descriptor::of_json(read.to_json().as_bytes()).is_ok());
        }
    }
}
