//! `tamis delete`: a filter in Redis is deleted.

use super::remote;
use crate::args::DeleteArgs;
use crate::error::Error;
use crate::input::shown;
use crate::remote::Address;

/// Runs `tamis delete`.
pub(crate) fn delete(args: &DeleteArgs) -> Result<(), Error> {
    match Address::of(&args.filter)? {
        Some(address) => remote::delete(args, &address),
        None => Err(Error::Usage(format!(
            "{}: tamis deletes filters in Redis only, such as redis://localhost:6379/#seen; a file \
             is deleted by rm",
            shown(&args.filter)
        ))),
    }
}
