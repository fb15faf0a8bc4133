//! The tests whose threads race, in a program of their own, so that no other test takes their
//! processors.

mod common;
mod growing_storm;
mod linearizable;
mod race;
mod small_storm;
mod storm;
