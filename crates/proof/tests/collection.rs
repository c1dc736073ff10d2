//! What collection costs, on page-mapped drives drawn at random: the spare space against the model, write amplification
//! against what the drive counts while it is overwritten at random for long.

use flashscope_device::{Target, WriteGrant};
use flashscope_model::plan::{Budget, Overwrite, Span};
use flashscope_model::{Estimate, Experiment, Geometry};
use flashscope_proof::Nobody;
use flashscope_session::{Options, single};
use flashscope_sim::SimTarget;
use flashscope_sim::truth;
use flashscope_stats::Rng;
use flashscope_units::Bytes;

/// The catalogue's drive, small, with other chips, links, caches and ways of collecting.
fn draw(rng: &mut Rng) -> String {
    let mut text =
        flashscope_sim::show("ssd-consumer", false, |_| Err("no files".to_owned())).expect("in the catalogue");
    let mut set = |line: &str, other: String| {
        assert!(text.contains(line), "{line}");
        text = text.replace(line, &other);
    };
    let mut any = |choices: &[u64]| choices[rng.below(choices.len())];
    let (channels, dies, planes, page) = (any(&[1, 2, 4]), any(&[1, 2]), any(&[1, 2, 4]), any(&[4, 8, 16]));
    let row = page * planes * channels * dies;
    let pages = (any(&[3072, 6144, 12_288]) / row / 12).max(1) * 12;
    let data = any(&[90, 120, 150, 180]);
    let spare = (data * any(&[7, 9, 12, 16, 20, 25, 30, 36]) / 100).max(11);
    let (bits, program) = [(1, 300), (2, 1200), (3, 2200), (4, 2600)][any(&[0, 1, 2, 3]) as usize];
    set("channels = 4", format!("channels = {channels}"));
    set("dies_per_channel = 2", format!("dies_per_channel = {dies}"));
    set("planes = 4", format!("planes = {planes}"));
    set("page = \"16KiB\"", format!("page = \"{page}KiB\""));
    set("pages_per_block = 2304", format!("pages_per_block = {pages}"));
    set("blocks_per_plane = 228", format!("blocks_per_plane = {}", data + spare));
    set("bits_per_cell = 3", format!("bits_per_cell = {bits}"));
    set("program = [\"1900us\"]", format!("program = [\"{program}us\"]"));
    set("\"greedy\"", format!("\"{}\"", ["greedy", "fifo", "cost-benefit"][any(&[0, 1, 2]) as usize]));
    set("bytes_per_s = 545e6", format!("bytes_per_s = {}e6", any(&[38, 400, 545])));
    set("size = \"8MiB\"", format!("size = \"{}KiB\"", any(&[512, 1024, 4096])));
    set("\"240057409536\"", format!("\"{}\"", data * pages * row * 1024));
    set("endurance = 1500\n", String::new());
    set("level = \"bench\"", "level = \"field\"".to_owned());
    let caches = [
        "kind = \"none\"",
        "kind = \"static\"\nsuperblocks = 3",
        "kind = \"dynamic\"\nmax_superblocks = 8\nkeep_free = 8",
    ];
    set("kind = \"dynamic\"\nmax_superblocks = 32\nkeep_free = 8", caches[any(&[0, 1, 2]) as usize].to_owned());
    text
}

fn open(text: &str, seed: u64) -> SimTarget {
    let mut target = flashscope_sim::open_with("drive.toml", seed, |_| Ok(text.to_owned())).expect("a model");
    target.check_always(false);
    target
}

fn overwrite(target: &mut SimTarget, plan: Overwrite) -> (Geometry, Bytes) {
    let write = plan.block * (plan.in_order + plan.random);
    let mut grant = WriteGrant::simulated(target.facts(), write).expect("a simulated device");
    let options = Options { seed: 5, budget: Budget { write, time: None } };
    let before = target.wear().expect("it counts").programmed;
    let report = single(Experiment::Overwrite(plan), target, Some(&mut grant), options, &mut Nobody).expect("it fits");
    (report.findings.geometry, target.wear().expect("it counts").programmed - before)
}

fn whole(target: &SimTarget) -> Overwrite {
    let block = Bytes::kib(128);
    let span = Span { start: Bytes::ZERO, length: target.facts().capacity.align_down(block) };
    let plan = flashscope_infer::overwrite_plan(block, span, 1);
    Overwrite { random: plan.random * 5 / 8, ..plan }
}

fn holds(found: &Estimate<f64>, truth: f64) -> bool {
    found.least().is_some_and(|least| least <= truth) && found.most().is_some_and(|most| truth <= most)
}

const DEVICES: usize = 40;

#[test]
fn spare_space_and_write_amplification_are_told_on_drives_drawn_at_random() {
    let mut rng = Rng::new(5311);
    let (mut told, mut spare_held, mut factor_held) = (0, 0, 0);
    for index in 0..DEVICES {
        let text = draw(&mut rng);
        let mut target = open(&text, 5311 + index as u64);
        let truth = truth::of("drive.toml", |_| Ok(text.clone())).expect("a model");
        let truth = truth.drive.expect("a drive").physical_over_user;
        let plan = whole(&target);
        let (found, _) = overwrite(&mut target, plan);
        // As much as it holds three times over, and what the next two times cost.
        let more = |times: u64| Overwrite { in_order: 0, random: plan.in_order * times, ..plan };
        overwrite(&mut target, more(3));
        let (_, programmed) = overwrite(&mut target, more(2));
        let amplification = programmed.as_f64() / (plan.block * more(2).random).as_f64();
        let (spare, factor) = (&found.physical_over_user, &found.write_amplification);
        if spare.is_unknown() {
            continue;
        }
        told += 1;
        // Anything from what is turned over to all that is there is right.
        let (low, high) = (truth.aliases[0], truth.value.expect("it is known"));
        spare_held += usize::from(spare.least() <= Some(high) && spare.most() >= Some(low));
        factor_held += usize::from(holds(factor, amplification));
        let (low, high) = (factor.least().expect("a bracket"), factor.most().expect("a bracket"));
        assert!(high < 3.0 * low, "a bracket of {low} to {high} says little");
    }
    assert!(told * 100 >= DEVICES * 90, "{told} told");
    assert!(spare_held * 100 >= told * 93, "{spare_held} of {told} brackets hold the spare space");
    assert!(factor_held * 100 >= told * 93, "{factor_held} of {told} brackets hold the amplification");
}

#[test]
fn too_few_writes_tell_nothing_and_a_part_of_a_device_gives_a_bound() {
    let mut rng = Rng::new(5312);
    let text = draw(&mut rng);
    let mut target = open(&text, 5312);
    let plan = whole(&target);
    let (short, _) = overwrite(&mut target, Overwrite { random: plan.in_order / 100, ..plan });
    assert!(short.physical_over_user.is_unknown() && short.write_amplification.is_unknown(), "{short:?}");
    // A link that hides nothing.
    let link = text.lines().find(|line| line.starts_with("bytes_per_s")).expect("it has a link");
    let text = text.replace(link, "bytes_per_s = 3e9");
    let mut target = open(&text, 5312);
    let part = Span { start: Bytes::ZERO, length: (plan.span.length / 4 * 3).align_down(plan.block) };
    let (part, _) = overwrite(&mut target, flashscope_infer::overwrite_plan(plan.block, part, 1));
    let truth = truth::of("drive.toml", |_| Ok(text.clone())).expect("a model").drive.expect("a drive");
    let most = part.physical_over_user.most().unwrap_or_else(|| panic!("{:?}", part.physical_over_user));
    assert!(Some(most) >= truth.physical_over_user.aliases.first().copied(), "{most}");
    assert!(part.physical_over_user.least().is_none() && part.write_amplification.most().is_none(), "{part:?}");
}
