//! States made on simulated devices: what was done, what shows it, what happens when something goes wrong.

use flashscope_device::{
    Availability, ExecuteExt, Fill, NoPurge, Outcome, Purge, PurgeError, PurgeStep, Request, Target, WriteGrant,
};
use flashscope_journal::{Journal as Kept, Subject};
use flashscope_model::envelope::ConditionList;
use flashscope_model::{DeviceState, StopReason};
use flashscope_sim::SimTarget;
use flashscope_state::{Journal, Life, Made, Progress, Recipe, Step, Watch, Wish, head, make};
use flashscope_testkit::Failing;
use flashscope_units::Bytes;

/// Stops after so many looks, and keeps the journal as a kill would leave it.
struct Watcher {
    looks_left: u64,
    kept: Option<String>,
    /// Keeps the journal now and then and where it must be, and not at the end, as a kill would.
    killed: bool,
    moved: u64,
}

impl Watcher {
    fn new() -> Watcher {
        Watcher { looks_left: u64::MAX, kept: None, killed: false, moved: 0 }
    }
}

impl<T: Target> Watch<T> for Watcher {
    fn progress(&mut self, progress: &Progress<'_>) {
        assert!(progress.moved.get() >= self.moved && progress.moved <= progress.most, "{progress:?}");
        assert!((1..=progress.steps).contains(&progress.step));
        self.moved = progress.moved.get();
    }

    fn keep(&mut self, _: &T, journal: &Journal, must: bool) {
        if !self.killed || (self.looks_left > 0 && (must || self.looks_left.is_multiple_of(37))) {
            self.kept = Some(journal.text().unwrap());
        }
    }

    fn stop(&mut self) -> bool {
        self.looks_left = self.looks_left.saturating_sub(1);
        self.looks_left == 0
    }

    fn registers(&mut self, target: &T) -> ConditionList {
        target.wear().map(|wear| ("erases".to_owned(), wear.erases.to_string())).into_iter().collect()
    }
}

const CARD: &str = "sim:sd-4mib,noise=none,capacity=128MiB";

fn open(spec: &str) -> SimTarget {
    flashscope_sim::open(spec, 1).unwrap()
}

fn subject() -> Subject {
    Subject { identity: "this one".to_owned(), capacity_bytes: 128 << 20 }
}

fn wish(state: DeviceState) -> Wish {
    Wish { passes: 4, ..Wish::of(state, 5) }
}

fn recipe<T: Target>(wish: &Wish, target: &T) -> Recipe {
    Recipe::new(wish, target.facts()).unwrap()
}

/// Makes a state on a device, with all that it may write.
fn made<T: Target>(wish: &Wish, target: &mut T) -> Made {
    let recipe = recipe(wish, target);
    let mut grant = WriteGrant::simulated(target.facts(), recipe.most_written()).unwrap();
    let mut journal = Journal::new(wish, subject());
    let made = make(&recipe, &mut journal, Life::default(), (target, &mut grant), &mut NoPurge, &mut Watcher::new());
    let read: Bytes = made.certificate.steps.iter().map(|step| step.read).sum();
    assert!(grant.spent() <= recipe.most_written() && read <= recipe.most_read());
    made
}

#[test]
fn every_state_is_made_and_says_what_was_done() {
    for (state, spans) in [
        (DeviceState::Clean, 0.0..0.01),
        (DeviceState::Sequential, 1.0..1.01),
        (DeviceState::Full, 0.9..1.0),
        (DeviceState::Dirty, 1.5..2.3),
        (DeviceState::Steady, 2.5..4.6),
        (DeviceState::Aged, 4.0..4.01),
    ] {
        let mut card = open(CARD);
        let made = made(&wish(state), &mut card);
        let certificate = &made.certificate;
        assert!(certificate.reached && made.stop == StopReason::Complete, "{state:?}: {certificate:#?}");
        let written = certificate.written().as_f64() / card.facts().capacity.as_f64();
        assert!(spans.contains(&written), "{state:?} wrote {written} × the capacity: {certificate:#?}");
        assert_eq!(certificate.errors(), 0);
        assert_ne!(certificate.registers_before, certificate.registers_after, "{state:?}");
        card.check().unwrap();
    }
}

#[test]
fn what_is_purged_reads_as_erased_and_what_is_aged_holds_its_last_pass() {
    let mut card = open(CARD);
    let last = Request::verify(0, Bytes::mib(100), Bytes::mib(1), Fill::Tagged { generation: 4 });
    let aged = made(&wish(DeviceState::Aged), &mut card).certificate;
    assert_eq!(card.execute(last).unwrap().outcome, Outcome::Success);
    // Everything is read back after the last pass.
    assert_eq!(aged.steps.last().unwrap().read, card.facts().capacity);
    let clean = made(&wish(DeviceState::Clean), &mut card).certificate;
    assert_eq!(clean.purge.as_deref(), Some("discard"));
    assert!(clean.ladder.last().unwrap().outcome.contains("64 of 64 marks are gone"), "{clean:#?}");
    assert_eq!(card.execute(last).unwrap().outcome, Outcome::Mismatch);
}

#[test]
fn a_discard_that_does_nothing_is_not_taken_for_a_purge() {
    // The same card, with a discard that does this.
    let with = |effect: &str| {
        let model = flashscope_sim::show(CARD, false, |_| Err("no file".to_owned())).unwrap();
        let text = format!("{model}\n[discard]\neffect = \"{effect}\"\ngranularity = \"4KiB\"\ntime = \"150us\"\n");
        flashscope_sim::open_with("sim:./model.toml", 1, |_| Ok(text.clone())).unwrap()
    };
    for (effect, said) in [("kept", "did nothing that shows"), ("absent", "not there")] {
        let mut card = with(effect);
        let made_one = made(&wish(DeviceState::Clean), &mut card);
        let certificate = made_one.certificate;
        assert!(!certificate.reached && certificate.purge.is_none(), "{certificate:#?}");
        assert!(certificate.ladder.iter().any(|rung| rung.outcome.contains(said)), "{certificate:#?}");
        // A state that can do without is made all the same, and says what is missing.
        let full = made(&wish(DeviceState::Full), &mut with(effect)).certificate;
        assert!(full.reached && full.notes.iter().any(|note| note.contains("not purged before")), "{full:#?}");
    }
    let over = made(&Wish { overwrite: true, ..wish(DeviceState::Clean) }, &mut with("absent")).certificate;
    assert!(!over.reached && over.why.contains("not clean") && over.written() >= Bytes::mib(128), "{over:#?}");
}

/// Stops at this look and goes on from what the last journal says, on the device as it is.
fn interrupted(wish: &Wish, card: &mut SimTarget, looks: u64, killed: bool) -> (Made, u32) {
    let recipe = recipe(wish, card);
    let mut text: Option<String> = None;
    let mut stops = 0;
    loop {
        let mut journal = match &text {
            Some(text) => Journal::read(text, &head(wish, subject())).unwrap(),
            None => Journal::new(wish, subject()),
        };
        let mut grant = WriteGrant::simulated(card.facts(), journal.most_left(&recipe)).unwrap();
        // Later each time, so that it comes to an end.
        let mut watcher = Watcher { looks_left: looks << stops, killed, ..Watcher::new() };
        let made = make(&recipe, &mut journal, Life::default(), (card, &mut grant), &mut NoPurge, &mut watcher);
        if made.stop != StopReason::Interrupted {
            return (made, stops);
        }
        assert!(!made.certificate.reached && made.certificate.why.contains("stopped"), "{made:#?}");
        stops += 1;
        text = watcher.kept;
    }
}

#[test]
fn what_is_stopped_goes_on_where_it_was() {
    for state in [DeviceState::Dirty, DeviceState::Aged, DeviceState::Steady] {
        let whole = made(&wish(state), &mut open(CARD)).certificate;
        let (resumed, stops) = interrupted(&wish(state), &mut open(CARD), 3, false);
        let resumed = resumed.certificate;
        assert!(stops > 3 && resumed.sessions == stops + 1, "{stops}");
        assert!(resumed.reached && resumed.registers_before == whole.registers_before);
        let did = |certificate: &flashscope_model::certificate::Certificate| {
            certificate.steps.iter().map(|step| (step.what.clone(), step.written, step.read)).collect::<Vec<_>>()
        };
        if state != DeviceState::Steady {
            assert_eq!(did(&resumed), did(&whole), "{state:?}");
        }
    }
}

#[test]
fn what_is_killed_goes_on_without_taking_its_own_writes_for_damage() {
    for looks in [5, 40, 70, 100] {
        let (made, stops) = interrupted(&wish(DeviceState::Aged), &mut open(CARD), looks, true);
        assert!(stops > 0 && made.certificate.reached, "{made:#?}");
        assert_eq!(made.certificate.errors(), 0, "killed at look {looks}: {:#?}", made.certificate.notes);
    }
}

#[test]
fn a_budget_is_kept_and_what_was_done_is_said() {
    let mut card = open(CARD);
    let wish = wish(DeviceState::Sequential);
    let recipe = recipe(&wish, &card);
    let mut grant = WriteGrant::simulated(card.facts(), Bytes::mib(10)).unwrap();
    let mut journal = Journal::new(&wish, subject());
    let made = make(&recipe, &mut journal, Life::default(), (&mut card, &mut grant), &mut NoPurge, &mut Watcher::new());
    assert_eq!(made.stop, StopReason::BudgetSpent);
    assert!(!made.certificate.reached && made.certificate.written() > Bytes::mib(8), "{made:#?}");
}

#[test]
fn a_device_that_fails_is_given_up_and_one_that_fails_here_and_there_is_not() {
    let mut dying = Failing::new(open(CARD), std::iter::once(16 << 20..128 << 20), "EROFS: read-only");
    let made_one = made(&wish(DeviceState::Dirty), &mut dying);
    assert_eq!(made_one.stop, StopReason::Failing);
    let why = &made_one.certificate.why;
    assert!(why.contains("EROFS") && why.contains("read-only"), "{why}");
    assert!(made_one.certificate.written() >= Bytes::mib(16), "what was done is kept");
    let mut spotty =
        Failing::new(open(CARD), std::iter::once((64 << 20) + 4096..(64 << 20) + 4608), "EIO: input/output error");
    let certificate = made(&wish(DeviceState::Sequential), &mut spotty).certificate;
    assert!(certificate.reached && certificate.errors() == 1, "{certificate:#?}");
    assert!(certificate.notes[0].contains("1 requests failed (the first: EIO"), "{certificate:#?}");
}

/// A ladder with steps that a test says.
struct Ladder(Vec<(PurgeStep, Availability, Result<String, PurgeError>)>);

impl Purge for Ladder {
    fn offers(&mut self) -> Vec<(PurgeStep, Availability)> {
        self.0.iter().map(|(step, there, _)| (*step, there.clone())).collect()
    }

    fn purge(&mut self, step: PurgeStep, _: &WriteGrant, _: &mut dyn FnMut() -> bool) -> Result<String, PurgeError> {
        self.0.iter().find(|(other, ..)| *other == step).expect("it was offered").2.clone()
    }
}

#[test]
fn the_ladder_goes_down_past_what_fails_hangs_or_does_nothing() {
    let there = Availability::There;
    let mut ladder = Ladder(vec![
        (PurgeStep::SecureDiscard, Availability::Unknown("nobody says".into()), Err(PurgeError::Absent("none".into()))),
        (PurgeStep::MmcSanitize, there.clone(), Ok("sanitised, as it says".into())),
        (PurgeStep::NvmeSanitize, there.clone(), Err(PurgeError::Hung("still at it".into()))),
        (PurgeStep::NvmeFormat, there, Err(PurgeError::Failed("exit status 1".into()))),
    ]);
    let mut card = open(CARD);
    let wish = wish(DeviceState::Clean);
    let recipe = recipe(&wish, &card);
    let mut grant = WriteGrant::simulated(card.facts(), Bytes::mib(1)).unwrap();
    let mut journal = Journal::new(&wish, subject());
    let made = make(&recipe, &mut journal, Life::default(), (&mut card, &mut grant), &mut ladder, &mut Watcher::new());
    let said: Vec<(String, bool)> =
        made.certificate.ladder.iter().map(|rung| (rung.step.clone(), rung.reached)).collect();
    let steps = ["mmc-sanitize", "nvme-sanitize", "nvme-format", "secure-discard", "discard"];
    assert_eq!(said, steps.map(|step| (step.to_owned(), step == "discard")), "{made:#?}");
    assert!(made.certificate.ladder[0].outcome.contains("did nothing that shows"), "{made:#?}");
    assert!(made.certificate.reached);
}

#[test]
fn recipes_refuse_what_makes_no_sense() {
    let card = open(CARD);
    let of = |wish: Wish| Recipe::new(&wish, card.facts()).map_err(|error| error.to_string());
    assert!(of(wish(DeviceState::Young)).unwrap_err().contains("hint: "));
    assert!(of(Wish { share: 0.0, ..wish(DeviceState::Full) }).is_err());
    assert!(of(Wish { share: f64::NAN, ..wish(DeviceState::Full) }).is_err());
    assert!(of(Wish { passes: 0, ..wish(DeviceState::Aged) }).is_err());
    assert!(of(Wish { mix: "768".parse().unwrap(), ..wish(DeviceState::Dirty) }).is_err());
    let dirty = of(wish(DeviceState::Dirty)).unwrap();
    assert!(matches!(&dirty.steps[..], [Step::Sequential { .. }, Step::Spread { .. }]));
    assert_eq!(dirty.describe().len(), 2);
    assert!(dirty.time(card.facts()).0.as_secs_f64() > 1.0);
}
