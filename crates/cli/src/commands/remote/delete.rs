//! `tamis delete` on a filter in Redis.

use std::io::{self, IsTerminal, Write};

use tamis_redis::Error as RedisError;

use crate::args::DeleteArgs;
use crate::error::Error;
use crate::remote::Address;
use crate::screen;

/// Deletes a filter in Redis, after a question or with --yes.
pub(in crate::commands) fn delete(args: &DeleteArgs, address: &Address) -> Result<(), Error> {
    if !args.yes && !is_confirmed(address)? {
        return Err(failed(address, "not deleted", 1));
    }
    match address.builder(&args.server, args.quiet).destroy() {
        Ok(()) => {}
        // The usual advice, to create it, is none here.
        Err(source @ RedisError::Missing) => return Err(failed(address, &source.to_string(), 2)),
        Err(source) => return Err(address.refused(source)),
    }
    if !args.quiet {
        screen::say(&format!("{address}: deleted"));
    }
    Ok(())
}

/// Asks on the terminal whether the filter is to be deleted.
fn is_confirmed(address: &Address) -> Result<bool, Error> {
    if !io::stdin().is_terminal() {
        let unasked =
            "standard input is not a terminal, so nobody can be asked: give --yes to delete it";
        return Err(Error::Usage(format!("{address}: {unasked}")));
    }
    let mut screen = io::stderr();
    let asked = write!(screen, "Delete the filter {address}? [y/N] ").and_then(|()| screen.flush());
    asked.map_err(Error::Write)?;
    let mut answer = String::new();
    let read = io::stdin().read_line(&mut answer);
    read.map_err(|error| failed(address, &format!("cannot read the answer: {error}"), 1))?;
    Ok(["y", "yes"].iter().any(|yes| answer.trim().eq_ignore_ascii_case(yes)))
}

/// The error of a filter that was not deleted.
fn failed(address: &Address, text: &str, code: u8) -> Error {
    Error::Remote { name: address.to_string(), source: text.into(), advice: None, code }
}
