//! The published relations between clean and dirty, young and old, on the models of the catalogue that age, and how long it takes
//! to bring a device of 64 GB to a state: `scripts/prove states`. With `--quick` the relations alone, of a small phone eMMC.

#[path = "../examples/ebench-states/states.rs"]
#[expect(dead_code, reason = "the page shows more than the relations")]
mod states;

use flashscope_device::Target;
use flashscope_sim::{Files, open_from};
use flashscope_testkit::Targets;
use flashscope_units::Bytes;
use states::{Age, Device, Relations, measure};
use std::error::Error;
use std::io::Stdout;
use std::process::ExitCode;
use std::time::Instant;

/// A sixteenth of the pages in each block: as many blocks, a sixteenth of what each takes.
const SMALL: &str = "emmc-phone,capacity=984875008,mapping.nand.pages_per_block=16,mapping.nand.erase=312us,\
                     ageing.upkeep_every=16";
/// Drives and cards of 64 GB.
const DRIVE: &str = "ssd-budget";
const CARD: &str = "sd-24mib,capacity=64GiB";
/// A seed that nobody has tuned with.
const SEED: u64 = 1504;

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let quick = std::env::args().any(|argument| argument == "--quick");
    let mut targets = Targets::begin(std::io::stdout())?;
    if quick {
        relations(&mut targets, "small phone eMMC", SMALL)?;
        targets.left_out("speed", "a clock decides")?;
    } else {
        relations(&mut targets, "emmc-phone", "emmc-phone")?;
        relations(&mut targets, "ssd-budget", "ssd-budget")?;
        speed(&mut targets)?;
    }
    Ok(if targets.end()? { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// About 50 % and 16 %: read as within a third of each.
fn relations(targets: &mut Targets<Stdout>, name: &str, model: &str) -> std::io::Result<()> {
    let found = Relations::of(&measure(model, SEED));
    let mut within = |what: &str, low: f64, high: f64, ratio: f64| {
        let percent = 100.0 * (ratio - 1.0);
        let wanted = format!("{low:.0} to {high:.0} %");
        targets.row(&format!("{name}: {what}"), &wanted, &format!("{percent:.1} %"), (low..=high).contains(&percent))
    };
    within("writes longer when dirty", 33.0, 67.0, found.dirty_over_clean)?;
    within("writes longer when old", 11.0, 21.0, found.old_over_young)?;
    let [young, old] = found.above_100_ms;
    let text = format!("{young} young, {old} old");
    targets.row(&format!("{name}: writes above 100 ms"), "when old only", &text, young == 0 && old > 0)?;
    let text = format!("{:.1} % longer", 100.0 * (found.fastest - 1.0));
    targets.row(&format!("{name}: the fastest writes"), "slower when old", &text, found.fastest > 1.01)?;
    let [young, old] = found.slow.map(|share| 100.0 * share);
    let text = format!("{young:.1} % young, {old:.1} % old");
    targets.row(&format!("{name}: slow periods"), "more when old", &text, old > young)?;
    let purged = found.purged_over_dirty < 0.9 && found.old_over_young > 1.05;
    let text = format!("{:.1} % shorter writes", 100.0 * (1.0 - found.purged_over_dirty));
    targets.row(&format!("{name}: a purge of an old one"), "clears dirt, not age", &text, purged)?;
    targets.at_most(&format!("{name}: 16 MiB benchmarks see of dirt"), 5.0, 100.0 * found.small_change, "%")
}

/// One saved state.
struct One(Vec<u8>);

impl Files for One {
    fn model(&self, _path: &str) -> Result<String, String> {
        Err("no models".to_owned())
    }

    fn state(&self, _path: &str) -> Result<Option<Vec<u8>>, String> {
        Ok(Some(self.0.clone()))
    }
}

fn speed(targets: &mut Targets<Stdout>) -> Result<(), Box<dyn Error>> {
    for model in [DRIVE, CARD] {
        let name = |what: &str| format!("{model}: {what}");
        let mut device = Device::new(model, SEED);
        targets.at_most(&name("full"), 2.0, seconds(|| drop(device.pass())), "s")?;
        let spent = seconds(|| {
            let capacity = device.capacity();
            device.write_mix(capacity + capacity / 5, capacity);
        });
        targets.at_most(&name("dirty: 1.2 capacities at random in a mix of sizes"), 15.0, spent, "s")?;
        let pages = (device.capacity() / Bytes::kib(4)) as f64;
        targets.at_most(
            &name("state, dirty, a page of 4 KiB"),
            16.0,
            device.target.state_bytes() as f64 / pages,
            "bytes",
        )?;
        let mut bytes = Vec::new();
        device.target.save(&mut bytes)?;
        targets.at_most(&name("its file, a page of 4 KiB"), 16.0, bytes.len() as f64 / pages, "bytes")?;
        let file = One(bytes);
        let spec = format!("{model},noise=none,state=./saved.state");
        let mut opened = None;
        let spent = seconds(|| opened = open_from(&spec, SEED, &file).ok());
        targets.at_most(&name("from that file"), 2.0, spent, "s")?;
        let same = opened.is_some_and(|target| target.facts() == device.target.facts());
        targets.row(&name("from that file"), "the same registers", if same { "the same" } else { "others" }, same)?;
        targets.at_most(
            &name("aged: 30 capacity-writes"),
            300.0,
            seconds(|| Device::new(model, SEED).age(Age::Old)),
            "s",
        )?;
    }
    Ok(())
}

fn seconds(work: impl FnOnce()) -> f64 {
    let wall = Instant::now();
    work();
    wall.elapsed().as_secs_f64()
}
