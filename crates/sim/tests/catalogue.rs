//! The catalogue, its specs and their errors.

use flashscope_device::{Content, ExecuteExt, Outcome, Request, Target};
use flashscope_sim::{catalogue, open, open_with, show, truth};
use flashscope_units::Bytes;

fn no_file(_: &str) -> Result<String, String> {
    Err("no such file".to_owned())
}

#[test]
fn every_model_opens_says_what_it_is_and_has_a_truth() {
    for entry in catalogue() {
        let mut target = open(entry.name, 1).unwrap_or_else(|error| panic!("{}: {error}", entry.name));
        assert!(!entry.title.is_empty(), "{} has no title", entry.name);
        assert!(target.facts().simulated);
        let done = target.execute(Request::read(7, Bytes::mib(32), Bytes::kib(16))).unwrap();
        assert_eq!((done.id, done.outcome, done.content), (7, Outcome::Success, Content::Varied), "{}", entry.name);
        target.check().unwrap();
        let truth = truth::of(entry.name, no_file).unwrap();
        assert!(truth.allocation_unit.value.is_some());
        let shown = show(entry.name, false, no_file).unwrap();
        let names = shown.strip_prefix(entry.toml).unwrap_or_else(|| panic!("{shown}"));
        assert!(names.starts_with("\n# Short names behind sim:MODEL") && names.lines().count() == 2, "{names}");
    }
}

/// What a model prints can be saved and opened again.
#[test]
fn a_shown_model_is_a_model() {
    for entry in catalogue() {
        let spec = format!("{},noise=harsh,seed=3", entry.name);
        let text = show(&spec, true, no_file).unwrap();
        let reopened = show("copy.toml", false, |_| Ok(text.clone())).unwrap();
        assert_eq!(reopened, show("again.toml", false, |_| Ok(reopened.clone())).unwrap());
        assert_eq!(truth::of(&spec, no_file), truth::of("copy.toml", |_| Ok(text.clone())));
    }
}

/// Nothing of the inside shows in what a host sees.
#[test]
fn facts_do_not_tell_the_truth() {
    let facts = |spec: &str| open(spec, 1).unwrap().facts().clone();
    let changed = "sd-4mib,mapping.unit=8MiB,mapping.stripe=8MiB,mapping.logs_in_order=3,mapping.areas.0.start=8MiB,\
                   mapping.areas.0.end=16MiB,state=blank,noise=none";
    assert_eq!(facts("sd-4mib"), facts(changed));
    assert_eq!(facts("sd-4mib").name, "SD08G");
}

#[test]
fn changes_are_typed_and_errors_help() {
    assert_eq!(open("sim:sd-4mib,capacity=4GiB", 1).unwrap().facts().capacity, Bytes::gib(4));
    let check = |spec: &str, expect: &str| {
        let message = open_with(spec, 1, no_file).unwrap_err().to_string();
        assert!(message.contains(expect), "{spec}: {message}");
    };
    check("sd-4mb", "hint: did you mean sd-4mib");
    check("blob", "the models are sd-4mib, emmc-write-align");
    check("sd-4mib,logs_in_ordr=3", "hint: did you mean mapping.logs_in_order");
    check("sd-4mib,capcity=3GiB", "hint: did you mean capacity");
    check("sd-4mib,mapping.logs_in_order=many", "it must be a number");
    check("sd-4mib,capacity=4KX", "unknown unit 'KX'");
    check("sd-4mib,noise=loud", "'loud' does not do for noise: unknown variant `loud`");
    check("sd-4mib,mapping.sub_unit=3MiB", "unit (4 MiB) must be a multiple of mapping.sub_unit (3 MiB)");
    check("sd-4mib,blank", "hint: write key=value");
    check("sd-4mib,mapping=x", "name one parameter in it");
    check("models/mine.toml", "model file 'models/mine.toml' could not be read: no such file");
    check("sd-4mib,mapping.kind=page-tree", "unknown variant `page-tree`");
}

#[test]
fn blank_devices_answer_with_the_erased_byte() {
    for (byte, spec) in [(0xff, "sd-4mib,state=blank"), (0, "sd-4mib,state=blank,state.erased_byte=0")] {
        let mut target = open(spec, 1).unwrap();
        let done = target.execute(Request::read(0, Bytes::gib(1), Bytes::mib(1))).unwrap();
        assert_eq!(done.content, Content::Uniform(byte));
    }
}

#[test]
fn requests_that_do_not_fit_are_refused_whole() {
    let mut target = open("sd-4mib", 1).unwrap();
    let end = target.facts().capacity;
    let good = Request::read(0, Bytes::ZERO, Bytes(512));
    for bad in [
        Request::read(1, end, Bytes(512)),
        Request::read(1, Bytes(100), Bytes(512)),
        Request::read(1, Bytes(0), Bytes(0)),
    ] {
        assert!(target.submit(&[good, bad]).is_err());
        let mut done = Vec::new();
        target.reap(1, &mut done).unwrap();
        assert!(done.is_empty());
    }
}

/// A queue keeps the order of a card, and every completion comes once.
#[test]
fn a_queue_of_requests_completes_in_order_on_a_card() {
    let mut target = open("sd-4mib", 1).unwrap();
    let batch: Vec<Request> = (0..8).map(|id| Request::read(id, Bytes::mib(id * 50), Bytes::kib(4))).collect();
    target.submit(&batch).unwrap();
    let mut done = Vec::new();
    target.reap(3, &mut done).unwrap();
    assert!(done.len() >= 3);
    target.reap(8, &mut done).unwrap();
    assert_eq!(done.len(), 8);
    assert!(done.windows(2).all(|pair| pair[0].completed <= pair[1].completed));
}
