//! What an AU-log card must do, and that each planted bug is caught by it.

use super::AuLog;
use super::faults::Fault;
use crate::ftl::{Extent, Ftl, Presence, Work};
use crate::model::{Mapping, Model};
use crate::spec;
use flashscope_units::{Bytes, Instant};

fn model(spec: &str) -> Model {
    spec::parse(spec, |_| Err(String::new())).unwrap().model
}

fn card(spec: &str, fault: Option<Fault>) -> AuLog {
    let model = model(spec);
    let Mapping::AuLog(params) = &model.mapping else { panic!("{spec} is not a card") };
    let mut card = AuLog::new(params, &model, 1);
    if let Some(fault) = fault {
        card.plant(fault);
    }
    card
}

/// Serves one request and says how many nanoseconds it took.
fn time(card: &mut AuLog, work: Work) -> u64 {
    let before = card.busy_until;
    card.serve(before, work);
    card.busy_until.since(before).get()
}

fn write(card: &mut AuLog, at: Bytes, length: Bytes) -> u64 {
    time(card, Work::Write { extent: Extent::new(at, length), durable: true })
}

fn read(card: &mut AuLog, at: Bytes, length: Bytes) -> u64 {
    time(card, Work::Read(Extent::new(at, length)))
}

/// The first of these that does not hold.
fn examine(fault: Option<Fault>) -> Result<(), String> {
    unit_edges_are_where_they_belong(fault)?;
    random_order_costs_merges(fault)?;
    nothing_is_lost(fault)
}

/// A read across a unit's edge costs more than one across any other page's edge.
fn unit_edges_are_where_they_belong(fault: Option<Fault>) -> Result<(), String> {
    let mut card = card("sd-4mib,noise=none,mapping.housekeeping.owed=0", fault);
    let mut across = |edge: Bytes| {
        read(&mut card, edge - Bytes::kib(4), Bytes::kib(8));
        read(&mut card, edge - Bytes::kib(4), Bytes::kib(8))
    };
    let (unit, half, page) = (across(Bytes::mib(64)), across(Bytes::mib(66)), across(Bytes::mib(65)));
    // Behind the unit's edge the next read starts in another unit again: that costs the switch as well.
    if unit > half + 100_000 && half > page + 10_000 { Ok(()) } else { Err(format!("{unit} {half} {page}")) }
}

/// Out of order, each write of a page merges half a unit; with a unit too many, each merges a whole one.
fn random_order_costs_merges(fault: Option<Fault>) -> Result<(), String> {
    let mut card = card("sd-4mib,noise=none,mapping.housekeeping.owed=0", fault);
    let page = Bytes::kib(16);
    let start = Bytes::mib(64);
    let in_order: Vec<u64> = (0..8).map(|i| write(&mut card, start + page * i, page)).collect();
    let random = write(&mut card, start + page * 99, page);
    let penalty = random as f64 / in_order[7] as f64;
    if !(90.0..140.0).contains(&penalty) {
        return Err(format!("a write out of order costs {penalty:.1} times one in order"));
    }
    let mut round = |units: u64, offset: u64| -> u64 {
        (0..units).map(|unit| write(&mut card, Bytes::mib(100 + 48 * unit) + page * offset, page)).sum()
    };
    let eight = (0..4).map(|offset| round(8, offset)).last().unwrap_or_default() / 8;
    let nine = (4..6).map(|offset| round(9, offset)).last().unwrap_or_default() / 9;
    if nine > 50 * eight { Ok(()) } else { Err(format!("8 units {eight} ns a write, 9 units {nine}")) }
}

/// After writes in every order, all pages are still there and the books balance.
fn nothing_is_lost(fault: Option<Fault>) -> Result<(), String> {
    for spec in ["sd-4mib,capacity=64MiB", "sd-worn,capacity=64MiB", "emmc-write-align,capacity=64MiB"] {
        let mut card = card(spec, fault);
        for i in 0..4000u64 {
            let at = Bytes::kib(8) * (i * 4999 % 8192);
            let length = if i % 3 == 0 { Bytes::kib(4) } else { Bytes::kib(64) }.min(Bytes::mib(64) - at);
            write(&mut card, at, length);
            card.check()?;
        }
        card.check_all()?;
        let whole = card.presence(Extent::new(Bytes::ZERO, Bytes::mib(64)));
        if whole != Presence::All {
            return Err(format!("{spec}: {whole:?} of the card is found"));
        }
    }
    Ok(())
}

#[test]
fn a_card_without_bugs_passes() {
    assert_eq!(examine(None), Ok(()));
}

#[test]
fn planted_bugs_are_caught() {
    for fault in [Fault::FreeMerges, Fault::ShiftedUnits, Fault::ForgottenCopies] {
        assert!(examine(Some(fault)).is_err(), "{fault:?} was not noticed");
    }
}

#[test]
fn a_fill_stays_cheap_and_reads_of_blank_places_do_not_touch_the_flash() {
    let mut card = card("sd-4mib,noise=none,state=blank", None);
    let blank = read(&mut card, Bytes::mib(64), Bytes::kib(16));
    write(&mut card, Bytes::mib(64), Bytes::kib(16));
    let written = read(&mut card, Bytes::mib(64), Bytes::kib(16));
    assert!(blank + 200_000 < written, "{blank} {written}");
}

#[test]
fn idle_time_closes_what_is_open() {
    let mut card = card("sd-4mib,noise=none,mapping.housekeeping.owed=0,mapping.housekeeping.idle_after=1s", None);
    let page = Bytes::kib(16);
    for unit in 0..8 {
        write(&mut card, Bytes::mib(100 + 4 * unit), page);
    }
    let from = card.busy_until;
    card.idle(from, Instant(from.0 + 60_000_000_000));
    assert!(card.open.iter().all(|open| open.log.is_none()));
    assert!(write(&mut card, Bytes::mib(400), page) < 5_000_000, "nothing had to make way");
    card.check_all().unwrap();
}
