//! The list of epochs that this client knows of each shard: a hint, which each command checks.

use std::sync::{Arc, Mutex};

use super::epochs::Epochs;
use crate::lock::lock;

/// The lists of all shards. Locked for moments: a command takes the server longer.
pub(crate) struct Known(Mutex<Box<[Option<Arc<Epochs>>]>>);

impl Known {
    /// Of a filter without a window: 0 shards.
    pub(crate) fn new(shards: u32) -> Self {
        Self(Mutex::new(vec![None; shards as usize].into_boxed_slice()))
    }

    pub(crate) fn get(&self, shard: u32) -> Option<Arc<Epochs>> {
        lock(&self.0).get(shard as usize).cloned().flatten()
    }

    pub(crate) fn set(&self, shard: u32, epochs: &Arc<Epochs>) {
        if let Some(known) = lock(&self.0).get_mut(shard as usize) {
            *known = Some(Arc::clone(epochs));
        }
    }
}
