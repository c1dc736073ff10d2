//! The section of passes over a whole device.

use flashscope_model::capacity::Totals;
use flashscope_model::endurance::{
    Basis, End, EndKind, Endurance, EndurancePlan, Forecast, LifeLimit, Milestone, Pass, Rating, Reached, Retention,
};
use flashscope_model::envelope::Tool;
use flashscope_model::integrity::{IntegrityPlan, IntegrityRecord, Verdict};
use flashscope_model::{Envelope, Health, Kind};
use flashscope_record::{from_json, to_json};
use flashscope_units::{Bytes, Nanos};
use serde_json::Value;

fn record() -> IntegrityRecord {
    let health =
        Health { used_percent: Some(3), spare_percent: Some(99), written: Some(Bytes(7)), ..Health::default() };
    let totals =
        Totals { kept: Bytes(1), changed: Bytes(2), elsewhere: Bytes(3), unwritten: Bytes(4), unreadable: Bytes(5) };
    let pass = Pass {
        number: 1,
        written: Bytes(10),
        read: Bytes(11),
        write_time: Some(Nanos(12)),
        write_timed: Bytes(13),
        read_time: None,
        read_timed: Bytes::ZERO,
        totals,
        first_bad: Some(Bytes(14)),
        registers: Some(health),
        whole: false,
    };
    let limit = LifeLimit { share: 0.05, rated: Bytes::gib(9), rating: Rating::Assumed };
    let plan = EndurancePlan {
        seed: 4,
        claimed: Bytes::mib(8),
        request: Bytes::mib(1),
        most_passes: Some(5),
        until: Some(Milestone::Permille),
        limit: Some(limit),
        reread_after: Some(Nanos::secs(60)),
    };
    let reached = Reached { milestone: Milestone::FirstError, pass: 1, written: Bytes(10), capacity_writes: 1.5 };
    let forecast = Forecast {
        basis: Basis::Spare,
        capacity_writes: Some(9.5),
        low: 4.5,
        high: Some(20.5),
        evidence: "what moved".to_owned(),
    };
    let endurance = Endurance {
        plan,
        registers: Some(Health::default()),
        passes: vec![pass, Pass::default()],
        end: End { kind: EndKind::Gone, why: Some("it went".to_owned()) },
        milestones: vec![reached],
        forecast,
        retention: Some(Retention {
            asked: Nanos::secs(60),
            kept_for: Nanos::secs(61),
            totals,
            lost: Bytes(4096),
            whole: true,
        }),
        sessions: 2,
    };
    IntegrityRecord {
        envelope: Envelope::new(Kind::Integrity, Tool::default(), "integrity --endurance", "card.img"),
        plan: IntegrityPlan {
            cuts: 0,
            seed: 4,
            offset: Bytes::ZERO,
            length: Bytes::mib(8),
            slow_after: Nanos::secs(10),
            searched: Bytes::ZERO,
            switched_by: None,
        },
        verdict: Verdict { share: (0.0, 1.0), ..Verdict::default() },
        cuts: Vec::new(),
        requests: Vec::new(),
        under: None,
        endurance: Some(endurance),
    }
}

#[test]
fn passes_come_back_as_they_were() {
    let record = record();
    let read: IntegrityRecord = from_json(&to_json(&record)).unwrap();
    assert_eq!(read, record);
}

#[test]
fn a_record_of_power_cuts_from_before_has_no_passes() {
    let mut older: Value = serde_json::from_str(&to_json(&record())).unwrap();
    older.as_object_mut().unwrap().remove("endurance");
    let read: IntegrityRecord = from_json(&older.to_string()).unwrap();
    assert_eq!(read.endurance, None);
}
