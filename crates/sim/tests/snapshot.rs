//! A device's state in a file: what comes back is what was saved, and what is no such file is refused in words.

use flashscope_device::{ExecuteExt, Fill, Outcome, Request, Target, WriteGrant};
use flashscope_sim::truth::state_of;
use flashscope_sim::{Files, SimError, SimTarget, open, open_from};
use flashscope_units::{Bytes, Nanos};
use proptest::prelude::*;

const BLOCK: u64 = 16 << 10;
const PLACES: u64 = 2048;
const CARD: &str = "emmc-cached,capacity=32MiB,mapping.logs_random=3,ageing.early_failures=0.01";
const MIXED: &str = "sd-4mib,capacity=32MiB,mapping.logs_random=2,mapping.small.limit=16KiB,mapping.small.pages=9";
const DRIVE: &str = "emmc-phone,capacity=32MiB,mapping.nand.pages_per_block=16,mapping.nand.blocks_per_plane=40,\
                     mapping.nand.bad_blocks=2,ageing.early_failures=0.01";
const SLC: &str = "ssd-consumer,capacity=1GiB,mapping.nand.pages_per_block=72,mapping.nand.blocks_per_plane=46,\
                   mapping.nand.bad_blocks=0,mapping.slc.max_superblocks=2";

/// One file.
struct One(Option<Vec<u8>>);

impl Files for One {
    fn model(&self, _path: &str) -> Result<String, String> {
        Err("no models".to_owned())
    }

    fn state(&self, _path: &str) -> Result<Option<Vec<u8>>, String> {
        Ok(self.0.clone())
    }
}

fn saved(target: &SimTarget) -> Vec<u8> {
    let mut bytes = Vec::new();
    target.save(&mut bytes).unwrap();
    bytes
}

fn load(model: &str, bytes: Vec<u8>) -> Result<SimTarget, SimError> {
    open_from(&format!("{model},noise=none,state=old.state"), 9, &One(Some(bytes)))
}

#[derive(Clone, Debug)]
enum Step {
    Write { at: u64, blocks: u64 },
    Discard { at: u64, blocks: u64 },
    Rest { millis: u64 },
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let range = (0..PLACES, prop_oneof![4 => 1..4u64, 2 => 4..64u64, 1 => 64..512u64])
        .prop_map(|(at, blocks)| (at, blocks.min(PLACES - at)));
    let step = prop_oneof![
        12 => range.clone().prop_map(|(at, blocks)| Step::Write { at, blocks }),
        2 => range.prop_map(|(at, blocks)| Step::Discard { at, blocks }),
        1 => (1..3000u64).prop_map(|millis| Step::Rest { millis }),
    ];
    prop::collection::vec(step, 0..120)
}

fn apply(target: &mut SimTarget, steps: &[Step]) {
    let mut grant = WriteGrant::simulated(target.facts(), Bytes::gib(64)).unwrap();
    for (number, step) in steps.iter().enumerate() {
        let bytes = |blocks: u64| Bytes(blocks * BLOCK);
        let request = match *step {
            Step::Write { at, blocks } => {
                let fill = Fill::Tagged { generation: 1 + number as u32 % 3 };
                Request::write(&mut grant, 0, bytes(at), bytes(blocks), fill, false)
            }
            Step::Discard { at, blocks } => Request::discard(&mut grant, 0, bytes(at), bytes(blocks)),
            Step::Rest { millis } => {
                target.wait_until(target.now() + Nanos::millis(millis));
                continue;
            }
        };
        target.execute(request.unwrap()).unwrap();
    }
}

/// What each place holds.
fn content(target: &mut SimTarget) -> Vec<String> {
    let all = Bytes(PLACES * BLOCK);
    (0..PLACES).for_each(|at| drop(target.execute(Request::read(0, Bytes(at * BLOCK), Bytes(BLOCK)))));
    target.held(Bytes::ZERO, all).into_iter().map(|run| format!("{run:?}")).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_was_saved_comes_back_and_goes_on(
        model in prop::sample::select(vec![CARD, MIXED, DRIVE, SLC]),
        blank in any::<bool>(),
        seed in 0..1000u64,
        before in steps(),
        behind in steps(),
    ) {
        let start = if blank { "blank" } else { "filled" };
        let mut device = open(&format!("{model},noise=none,state={start}"), seed).unwrap();
        apply(&mut device, &before);
        let bytes = saved(&device);
        let mut back = load(model, bytes.clone()).unwrap();
        back.check().unwrap();
        // A device that is switched off in good order writes its buffer out first.
        device.execute(Request::flush(0)).unwrap();
        let (was, is) = (state_of(&device), state_of(&back));
        prop_assert_eq!((was.mapped_ratio, was.written, was.replaced_blocks), (is.mapped_ratio, is.written, is.replaced_blocks));
        prop_assert!(is.mean_erases >= was.mean_erases && is.most_erases >= was.most_erases);
        prop_assert_eq!(content(&mut device), content(&mut back));
        // What is loaded and saved again is the same file, and the same device from then on.
        prop_assert!(saved(&load(model, bytes.clone()).unwrap()) == bytes, "saved otherwise the second time");
        let mut twin = load(model, bytes).unwrap();
        content(&mut twin);
        apply(&mut back, &behind);
        apply(&mut twin, &behind);
        prop_assert_eq!(back.now(), twin.now());
        back.check().unwrap();
        prop_assert_eq!(content(&mut back), content(&mut twin));
    }
}

fn refused(model: &str, bytes: Vec<u8>, what: &str) {
    let said = load(model, bytes).unwrap_err().to_string();
    assert!(said.contains(what) && said.contains("\nhint: "), "{said}");
}

#[test]
fn a_file_that_is_no_state_of_this_device_is_refused_in_words() {
    let device = open(DRIVE, 1).unwrap();
    let bytes = saved(&device);
    refused(DRIVE, Vec::new(), "too short");
    refused(DRIVE, b"title = \"a model file, and no state of a device\"".to_vec(), "was not written as one");
    refused(DRIVE, bytes[..bytes.len() - 1].to_vec(), "damaged");
    for at in [30, 41, 60, bytes.len() / 2, bytes.len() - 1] {
        let mut damaged = bytes.clone();
        damaged[at] ^= 4;
        refused(DRIVE, damaged, "damaged");
    }
    refused(&DRIVE.replace("32MiB", "31MiB"), bytes.clone(), "another model: device.capacity");
    refused(CARD, bytes.clone(), "another model");
    refused(&format!("{DRIVE},torn=true"), bytes.clone(), "another model: fault");
    assert!(load(&format!("{DRIVE},noise=field"), bytes).is_ok(), "noise is around the device");
}

#[test]
fn without_the_file_a_device_starts_as_its_model_says() {
    let new = open_from("sd-4mib,state=./none.state", 1, &One(None)).unwrap();
    assert_eq!(state_of(&new), state_of(&open("sd-4mib", 1).unwrap()));
    let said = open("sd-4mib,state=./none.state", 1).unwrap_err().to_string();
    assert!(said.contains("no state can be read here"), "{said}");
    assert!(open("sd-4mib,state=blnk", 1).is_err());
}

#[test]
fn a_device_with_faults_is_not_saved() {
    let said = open("sd-4mib,torn=true", 1).unwrap().save(Vec::new()).unwrap_err().to_string();
    assert!(said.contains("faults cannot be saved"), "{said}");
}

/// Damage that keeps the checksum is a program's, not chance's; whatever it says, the device is refused or sound.
#[test]
fn no_content_of_a_file_panics() {
    let mut device = open(&format!("{DRIVE},noise=none"), 1).unwrap();
    apply(
        &mut device,
        &[Step::Write { at: 3, blocks: 40 }, Step::Write { at: 900, blocks: 2 }, Step::Discard { at: 7, blocks: 9 }],
    );
    for (model, bytes) in [(DRIVE, saved(&device)), (CARD, saved(&open(CARD, 1).unwrap()))] {
        let text = bytes.iter().rposition(|byte| *byte == b'\n').unwrap();
        for at in text + 1..bytes.len() {
            let mut other = bytes.clone();
            other[at] = other[at].wrapping_add(1 + (at % 5) as u8);
            sign(&mut other);
            if let Ok(mut target) = load(model, other) {
                let done = target.execute(Request::read(0, Bytes::ZERO, Bytes(BLOCK))).unwrap();
                assert!(matches!(done.outcome, Outcome::Success | Outcome::Failed(_)));
                target.check().unwrap();
            }
        }
    }
}

/// Gives a file the checksum of what it holds, as the format has it.
fn sign(bytes: &mut [u8]) {
    let (head, body) = bytes.split_at_mut(40);
    let sum = body.chunks(8).fold(body.len() as u64, |sum, word| {
        let word = word.iter().rev().fold(0u64, |sum, byte| sum << 8 | u64::from(*byte));
        flashscope_stats::rng::mix(sum ^ word)
    });
    head[32..40].copy_from_slice(&sum.to_le_bytes());
}
