//! The commands on a filter in Redis, in a build without the feature `redis`: each is an error that
//! names the feature.

use std::time::Instant;

use crate::args::{DeleteArgs, InfoArgs, MergeArgs, NewArgs, QueryArgs};
use crate::error::Error;
use crate::pipeline::Records;
use crate::remote::Address;

pub(super) fn delete(_args: &DeleteArgs, address: &Address) -> Result<(), Error> {
    Err(address.needs("redis"))
}

pub(super) fn info(_args: &InfoArgs, address: &Address) -> Result<String, Error> {
    Err(address.needs("redis"))
}

pub(super) fn merge(args: &MergeArgs) -> Result<(), Error> {
    let addresses = args.filters.iter().map(|path| Address::of(path));
    let first = addresses.collect::<Result<Vec<_>, _>>()?.into_iter().flatten().next();
    first.map_or(Ok(()), |address| Err(address.needs("redis")))
}

pub(super) fn new(
    _args: NewArgs,
    address: &Address,
    _records: Records,
    _start: Instant,
) -> Result<(), Error> {
    Err(address.needs("redis"))
}

pub(super) fn query(
    _args: QueryArgs,
    address: &Address,
    _records: &Records,
    _start: Instant,
) -> Result<bool, Error> {
    Err(address.needs("redis"))
}
