//! What has room on the file system that apps are played on.

use super::cannot;
use crate::error::Failure;
use crate::output;
use flashscope_app::definition::Definition;
use flashscope_model::app::AppPlace;
use flashscope_units::Bytes;

/// Of a file system, this share is left for its own tables when it is said what has room.
const USABLE: f64 = 0.95;

/// What is done where fewer rounds have room than were asked for.
pub(super) enum Fewer {
    /// They are played.
    Played,
    /// It is refused; the option that plays fewer.
    Refused(&'static str),
}

/// The rounds of an app that are played there: all of them, or as many as have room.
///
/// # Errors
/// Not one has room; or fewer than all, and that is to be refused.
pub(super) fn rounds(app: &Definition, rounds: u64, place: &AppPlace, fewer: &Fewer) -> Result<u64, Failure> {
    let room = Bytes((place.free.as_f64() * USABLE) as u64);
    if app.room(rounds) <= room {
        return Ok(rounds);
    }
    let (needed, free, capacity) = (app.room(rounds), place.free, place.capacity);
    let said = format!("{} in {rounds} rounds needs {needed}, and {free} of {capacity} are free", app.name);
    match (fitting(app, rounds, room), fewer) {
        (0, _) => Err(cannot(format!("{said}\nhint: not one round has room; take a larger file system"))),
        (fits, Fewer::Refused(option)) => {
            Err(cannot(format!("{said}\nhint: {option} plays the {fits} rounds that have room")))
        }
        (fits, Fewer::Played) => {
            output::talk(&format!("{said}: {fits} are played"));
            Ok(fits)
        }
    }
}

/// The rounds of an app that have room.
fn fitting(app: &Definition, most: u64, room: Bytes) -> u64 {
    let (mut low, mut high) = (0, most);
    while low < high {
        let middle = low + (high - low).div_ceil(2);
        if app.room(middle) <= room { low = middle } else { high = middle - 1 }
    }
    low
}
