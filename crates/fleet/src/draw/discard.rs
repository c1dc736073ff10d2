//! What discard does, where it is not the usual.
//!
//! No survey of cards says how often which; the shares are an assumption. SD cards know erase from the second version of
//! their standard on, eMMC trim from 4.4 and discard from 4.5; readers behind USB rarely pass any of them on.

use super::chance::Chance;
use super::text::size;
use toml::{Table, Value};

/// The `[discard]` section of a model; `None` for one that forgets whatever a discard covers.
pub(super) fn draw(chance: &mut Chance) -> Option<Table> {
    let effect =
        chance.weighted(&[(0.4, None), (0.3, Some("erased")), (0.15, Some("kept")), (0.15, Some("absent"))])?;
    let kib =
        chance.weighted(&[(1.0, 4), (1.0, 8), (1.0, 16), (1.0, 48), (1.0, 64), (1.0, 512), (1.0, 1024), (1.0, 4096)]);
    let section = [
        ("effect", Value::from(effect)),
        ("granularity", size(flashscope_units::Bytes::kib(kib))),
        ("time", Value::from(format!("{}us", chance.whole(0, 2000)))),
    ];
    Some(section.into_iter().map(|(key, value)| (key.to_owned(), value)).collect())
}
