//! Records of earlier versions, brought up to date on reading: the only place that knows them.
//!
//! A record is changed as JSON, before its fields are read, so that readers know one version alone. What an earlier version did
//! not say becomes null, never a guess. `fixtures/records/` holds records of each; tests read them all.

mod v1;

use serde_json::Value;

/// Brings a record up to date.
type Upgrade = fn(Value) -> Value;

/// What brings a record of this schema up to date; `None` where it is none of the earlier ones.
pub(crate) fn upgrade_of(schema: &str) -> Option<Upgrade> {
    match schema {
        "flashscope.record/1" => Some(v1::run),
        "flashscope.bench/1" => Some(v1::bench),
        "flashscope.iozone/1" => Some(v1::iozone),
        "flashscope.fleet/1" => Some(v1::fleet),
        "flashscope.twin/1" => Some(v1::twin),
        _ => None,
    }
}
