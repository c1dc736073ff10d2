//! Known discards in, right answers out: what is read behind one, and from which size on it takes effect.

use flashscope_device::{Target, WriteGrant};
use flashscope_model::discard::{DiscardFound, DiscardReads};
use flashscope_model::plan::Budget;
use flashscope_model::{Estimate, ExperimentName};
use flashscope_proof::Nobody;
use flashscope_session::{Options, inspect};
use flashscope_units::Bytes;

/// What a whole `inspect` finds of the demo card with this section, and whether discard was the last experiment.
fn inspected(section: &str, erased_byte: u8) -> (Estimate<DiscardFound>, bool) {
    let spec = format!("sd-4mib,noise=field,capacity=2GiB,state.erased_byte={erased_byte}");
    let base = flashscope_sim::show(&spec, false, |_| Err("no files".to_owned())).expect("a model of the catalogue");
    let text = format!("{base}\n{section}");
    let mut target = flashscope_sim::open_with("card.toml", 3, |_| Ok(text.clone())).expect("a device");
    let write = Bytes::mib(512);
    let mut grant = WriteGrant::simulated(target.facts(), write).expect("a simulated device");
    let options = Options { seed: 3, budget: Budget { write, time: None } };
    let report = inspect(&mut target, Some(&mut grant), options, &mut Nobody);
    let last = report.observations.runs.last().map(|run| run.data.name());
    (report.findings.geometry.discard, last == Some(ExperimentName::Discard))
}

fn section(effect: &str, granularity: &str) -> String {
    format!("[discard]\neffect = \"{effect}\"\ngranularity = \"{granularity}\"\ntime = \"150us\"\n")
}

#[test]
fn what_a_discard_does_is_found_last_of_all() {
    let check = |section: &str, byte: u8, reads: DiscardReads, granularity: Option<Bytes>| {
        let (found, last) = inspected(section, byte);
        let figure = found.value().unwrap_or_else(|| panic!("{section}: {found:?}"));
        assert_eq!((figure.reads, figure.granularity), (reads, granularity), "{section}: {found:?}");
        assert!(last, "{section}");
        figure
    };
    let plain = check("", 0, DiscardReads::Zeros, Some(Bytes::kib(4)));
    // A random write to a unit of this card that holds data copies it, and there is nothing to copy behind a discard.
    assert!(plain.rewrite_ratio.is_some_and(|ratio| ratio > 1.5), "{plain:?}");
    check(&section("erased", "64KiB"), 0xff, DiscardReads::Ones, Some(Bytes::kib(64)));
    check(&section("erased", "1MiB"), 0, DiscardReads::Zeros, Some(Bytes::mib(1)));
    let kept = check(&section("kept", "4KiB"), 0, DiscardReads::Kept, None);
    assert_eq!(kept.rewrite_ratio, Some(1.0), "{kept:?}");
    check(&section("absent", "4KiB"), 0, DiscardReads::Absent, None);
}

#[test]
fn without_a_discard_nothing_is_said() {
    let base = flashscope_sim::open("sd-4mib", 1).expect("a device");
    let mut target = base;
    let options = Options { seed: 3, budget: Budget { write: Bytes::ZERO, time: None } };
    let report = inspect(&mut target, None, options, &mut Nobody);
    assert!(report.findings.geometry.discard.is_unknown());
}
