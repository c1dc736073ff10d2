//! Devices that lie about their size.

use crate::common::{CARD, KIB4, card, tagged};
use flashscope_device::{Content, Target};
use flashscope_model::Direction::{Read, Write};
use flashscope_sim::{FakeKind, Place, Placement, show, truth};
use flashscope_units::Bytes;

fn no_file(_: &str) -> Result<String, String> {
    Err("no such file".to_owned())
}

const BEYOND: Bytes = Bytes::mib(40);

#[test]
fn a_device_says_its_claimed_size_and_nothing_of_its_faults() {
    let fake = card("fake=limbo,real_capacity=16MiB");
    let genuine = card("state=filled");
    assert_eq!(fake.target.facts(), genuine.target.facts());
    assert!(fake.target.has_faults() && !genuine.target.has_faults());
}

#[test]
fn wrap_around_overwrites_from_the_start() {
    let mut card = card("fake=wrap-around,real_capacity=16MiB");
    let low = BEYOND - Bytes::mib(32);
    card.write(low, KIB4, 1);
    card.write(BEYOND, KIB4, 2);
    assert!(card.holds(BEYOND, KIB4, 2));
    assert!(!card.holds(low, KIB4, 1), "it was overwritten");
    assert!(!card.holds(low, KIB4, 2), "tagged bytes know where they belong");
    // Across the edge, both ways.
    card.write(Bytes::mib(16) - KIB4, KIB4 * 2, 3);
    assert!(card.holds(Bytes::mib(16) - KIB4, KIB4 * 2, 3));
    assert!(!card.holds(Bytes::ZERO, KIB4, 3));
    card.target.check().unwrap();
}

#[test]
fn a_wrap_below_the_real_size_is_what_hides_the_rest() {
    let card = card("fake=wrap-around,real_capacity=24MiB,wrap=16MiB");
    let placements = card.target.resolve(Bytes::mib(15), Bytes::mib(2), Read);
    let place =
        |start, at| Placement { start: Bytes::mib(start), length: Bytes::mib(1), place: Place::Medium(Bytes::mib(at)) };
    assert_eq!(placements, [place(15, 15), place(16, 0)]);
}

#[test]
fn limbo_loses_what_is_beyond() {
    for (beyond, expect) in [("zeros", Content::Uniform(0)), ("garbage", Content::Varied)] {
        let mut card = card(&format!("fake=limbo,real_capacity=16MiB,beyond={beyond}"));
        card.write(Bytes::mib(16) - KIB4, KIB4 * 2, 1);
        assert!(card.holds(Bytes::mib(16) - KIB4, KIB4, 1));
        assert!(!card.holds(Bytes::mib(16), KIB4, 1));
        assert_eq!(card.read(BEYOND, KIB4).content, expect);
        assert!(!card.holds(Bytes::mib(8), KIB4, 1), "nothing else was overwritten");
    }
}

/// Stretches that are there and stretches that are not alternate.
#[test]
fn a_chain_is_wrap_around_and_limbo_in_turn() {
    let mut card = card("fake=chain,real_capacity=12MiB,wrap=16MiB");
    let place = |start, place| Placement { start: Bytes::mib(start), length: Bytes::mib(4), place };
    let expect =
        [place(8, Place::Medium(Bytes::mib(8))), place(12, Place::Zeros), place(16, Place::Medium(Bytes::ZERO))];
    assert_eq!(card.target.resolve(Bytes::mib(8), Bytes::mib(12), Read), expect);
    assert_eq!(card.target.resolve(Bytes::mib(12), Bytes::mib(4), Write), [place(12, Place::Nowhere)]);
    card.write(Bytes::mib(16), KIB4, 1);
    card.write(Bytes::mib(28), KIB4, 2);
    assert!(card.holds(Bytes::mib(16), KIB4, 1));
    assert!(!card.holds(Bytes::mib(28), KIB4, 2));
    card.write(Bytes::ZERO, KIB4, 3);
    assert!(!card.holds(Bytes::mib(16), KIB4, 1));
}

#[test]
fn damaged_places_do_not_keep_what_is_written() {
    for damage in ["garbage", "lose"] {
        let mut card = card(&format!("fake=damaged,damaged=20MiB-21MiB,damage={damage}"));
        card.write(Bytes::mib(19), Bytes::mib(3), 1);
        assert!(card.holds(Bytes::mib(19), Bytes::mib(1), 1));
        assert!(!card.holds(Bytes::mib(20), KIB4, 1), "{damage}");
        assert!(card.holds(Bytes::mib(21), Bytes::mib(1), 1));
        assert_eq!(
            card.holds(Bytes::mib(20), KIB4, 0),
            damage == "lose",
            "what was there before stays, or nothing does"
        );
    }
}

#[test]
fn a_share_of_damage_is_that_share_and_the_seed_picks_it() {
    let bad = |seed| {
        let mut card = crate::common::Host::new(&format!("{CARD},damaged=0.1,grain=64KiB"), seed);
        card.write(Bytes::ZERO, Bytes::mib(64), 1);
        (0..1024).filter(|&i| !card.holds(Bytes::kib(64) * i, Bytes::kib(64), 1)).collect::<Vec<_>>()
    };
    let once = bad(1);
    assert!((70..135).contains(&once.len()), "{}", once.len());
    assert_eq!(once, bad(1));
    assert_ne!(once, bad(2));
}

/// The mapping only ever sees what is there.
#[test]
fn the_flash_behind_a_fake_is_that_of_its_real_size() {
    let mut card = card("fake=limbo,real_capacity=16MiB,state=blank");
    let before = card.target.wear().unwrap().programmed;
    card.write(BEYOND, Bytes::mib(1), 1);
    assert_eq!(card.target.wear().unwrap().programmed, before);
    let quick = card.try_write(BEYOND, Bytes::mib(1), 1).unwrap().service_time();
    let real = card.try_write(Bytes::mib(8), Bytes::mib(1), 1).unwrap().service_time();
    assert!(quick < real, "{quick} {real}");
}

#[test]
fn drives_can_be_fakes_too() {
    let mut drive = crate::common::Host::new("ssd-consumer,noise=none,fake=wrap-around,real_capacity=8GiB", 1);
    drive.write(Bytes::gib(9), Bytes::mib(1), 1);
    assert!(drive.holds(Bytes::gib(9), Bytes::mib(1), 1));
    drive.write(Bytes::gib(1), Bytes::mib(1), 2);
    assert!(!drive.holds(Bytes::gib(9), Bytes::mib(1), 1));
    drive.target.check().unwrap();
}

#[test]
fn the_truth_knows() {
    let check = |faults: &str, kind: FakeKind, real: u64, damaged: f64| {
        let truth = truth::of(&format!("{CARD},{faults}"), no_file).unwrap();
        assert_eq!((truth.size.kind, truth.size.claimed, truth.size.real), (kind, Bytes::mib(64), Bytes::mib(real)));
        assert_eq!(truth.capacity.value, Some(Bytes::mib(real)));
        assert!((truth.size.damaged_ratio - damaged).abs() < 1e-9);
    };
    check("", FakeKind::Genuine, 64, 0.0);
    check("vanish_after=5", FakeKind::Genuine, 64, 0.0);
    check("fake=limbo,real_capacity=16MiB", FakeKind::Limbo, 16, 0.0);
    check("fake=wrap-around,real_capacity=16MiB", FakeKind::WrapAround, 16, 0.0);
    check("fake=chain,real_capacity=12MiB,wrap=16MiB", FakeKind::Chain, 12, 0.0);
    check("damaged=0.05", FakeKind::Damaged, 64, 0.05);
}

#[test]
fn what_does_not_fit_together_is_refused_with_a_reason() {
    let check = |faults: &str, word: &str| {
        let message = flashscope_sim::open(&format!("{CARD},{faults}"), 1).unwrap_err().to_string();
        assert!(message.contains(word), "{faults}: {message}");
    };
    check("fake=limbo", "add real_capacity");
    check("real_capacity=1MiB", "needs a fault.fake");
    check("fake=limbo,real_capacity=65MiB", "at most 64 MiB");
    check("fake=chain,real_capacity=12MiB", "add wrap");
    check("fake=chain,real_capacity=12MiB,wrap=8MiB", "must lie between 12 MiB and 64 MiB");
    check("fake=wrap-around,real_capacity=12MiB,wrap=16MiB", "at most 12 MiB");
    check("fake=damaged", "add damaged");
    check("fake=lemon", "unknown variant `lemon`");
    check("fak=limbo", "did you mean");
    check("damaged=much", "neither a share");
    check("vanish_after=soon", "'soon' does not do for vanish_after");
    check("power_cut_at=5", "does not do for power_cut_at");
    check("lying_flush=true", "add write_cache");
    check("lost=0.6,misdirected=0.6", "must not be above 1");
    check("grain=100", "fault.grain");
    check("fault.colour=red", "no parameter 'fault.colour'");
}

/// All of the section is printed, and what is printed can be read again.
#[test]
fn show_prints_the_faults() {
    let spec = format!("{CARD},fake=chain,real_capacity=12MiB,wrap=16MiB");
    let text = show(&spec, true, no_file).unwrap();
    for line in [
        "[fault]",
        "fake = \"chain\"",
        "real_capacity = \"12MiB\"",
        "vanish_after = \"never\"",
        "chain: 12 MiB of 64 MiB",
    ] {
        assert!(text.contains(line), "{line} is missing from\n{text}");
    }
    let again = show("copy.toml", true, |_| Ok(text.clone())).unwrap();
    assert_eq!(text, again);
    assert!(!show(CARD, true, no_file).unwrap().contains("[fault]"));
    // A section may be short.
    let plain = show(CARD, false, no_file).unwrap();
    let short = format!("{plain}\n[fault]\nfake = \"limbo\"\nreal_capacity = \"8MiB\"\n");
    let mut target = flashscope_sim::open_with("short.toml", 1, |_| Ok(short.clone())).unwrap();
    let done = flashscope_device::ExecuteExt::execute(
        &mut target,
        flashscope_device::Request::verify(0, Bytes::mib(9), KIB4, tagged(0)),
    );
    assert_eq!(done.unwrap().content, Content::Uniform(0));
}
