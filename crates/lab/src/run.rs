//! From a plan and the devices that were found to runs.

use crate::plan::{NeighbourPlan, Plan, PlanError};
use crate::work::Work;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;

/// A device of the plan, found on the host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Device {
    /// What the plan calls it.
    pub name: String,
    /// What it says of itself; for a simulated one its target.
    pub identity: String,
    /// Whether it is simulated: its runs keep a processor busy, and need nothing else of the host.
    pub simulated: bool,
    /// Seed of all that is drawn on it.
    pub seed: u64,
    /// Parts of the host that it shares or could share, by their paths.
    pub parts: Vec<String>,
}

/// What may go on beside a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Part of the neighbour check, round by round: nothing on the host but this.
    Alone(u32),
    /// Part of the neighbour check: all devices of the check do the same at once.
    Beside(u32),
    /// Times are taken: exclusive use of every part of the way to the device.
    Timed,
    /// The device is filled or worn out: parts are shared with others that do the same.
    Wear,
}

impl Phase {
    /// Its word in the queue and in records, without the round.
    pub const fn word(self) -> &'static str {
        match self {
            Phase::Alone(_) => "alone",
            Phase::Beside(_) => "beside",
            Phase::Timed => "timed",
            Phase::Wear => "wear",
        }
    }

    /// The round of a neighbour check; 0 where it is none.
    pub const fn round(self) -> u32 {
        match self {
            Phase::Alone(round) | Phase::Beside(round) => round,
            Phase::Timed | Phase::Wear => 0,
        }
    }

    /// The phase of this word and round.
    pub fn of(word: &str, round: u32) -> Option<Phase> {
        match word {
            "alone" => Some(Phase::Alone(round)),
            "beside" => Some(Phase::Beside(round)),
            "timed" => Some(Phase::Timed),
            "wear" => Some(Phase::Wear),
            _ => None,
        }
    }

    /// Whether it belongs to a neighbour check.
    pub const fn is_check(self) -> bool {
        matches!(self, Phase::Alone(_) | Phase::Beside(_))
    }
}

/// One process on one device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Run {
    /// 32 hexadecimal digits: a hash of the device's identity and of all that is done, and so the name of its folder.
    pub id: String,
    /// Place of the device in the list that it was expanded with; where it is held against others, of the first one.
    pub device: usize,
    /// Places of the others, in the order of the work.
    pub others: Vec<usize>,
    /// Place of the work in the plan.
    pub work: usize,
    /// The words of the command line as the plan has them.
    pub words: Vec<String>,
    /// The name of the commands that cut the power, where that is a part of the work.
    pub power: Option<String>,
    /// What may go on beside it.
    pub phase: Phase,
}

impl Run {
    /// Places of all devices that it uses.
    pub fn devices(&self) -> impl Iterator<Item = usize> + Clone + '_ {
        std::iter::once(self.device).chain(self.others.iter().copied())
    }
}

/// The id of a run. Whatever hands it out twice, and whenever, it is the same run: only the device itself, the seed and what is
/// done go into it, neither the plan's name nor the slot.
pub fn run_id(identity: &str, seed: u64, words: &[String], phase: Phase) -> String {
    let mut hash = Sha256::new();
    hash.update(b"flashscope.lab/1");
    let mut field = |bytes: &[u8]| {
        // With its length before it, so that no two lists of fields are the same bytes.
        hash.update((bytes.len() as u64).to_le_bytes());
        hash.update(bytes);
    };
    field(identity.as_bytes());
    field(&seed.to_le_bytes());
    words.iter().for_each(|word| field(word.as_bytes()));
    if phase.is_check() {
        field(format!("neighbours {} {}", phase.word(), phase.round()).as_bytes());
    }
    hash.finalize().iter().take(16).map(|byte| format!("{byte:02x}")).collect()
}

/// All runs of a plan on these devices, which are in the plan's order, in the order in which they are begun: the neighbour check
/// round by round, then the first work of every device, the second of every device …, then what holds devices against each other.
///
/// # Errors
/// Two devices, or two works of one device, are the same.
pub fn expand(plan: &Plan, devices: &[Device]) -> Result<Vec<Run>, PlanError> {
    let mut runs = Vec::new();
    if let Some(check) = &plan.neighbours {
        runs.extend(check_runs(plan, devices, check));
    }
    let most = plan.devices.iter().map(|device| device.works.len()).max().unwrap_or(0);
    for turn in 0..most {
        for (index, device) in devices.iter().enumerate() {
            if let Some(work) = plan.devices[index].works.get(turn) {
                let of = &plan.works[*work];
                runs.push(run(device, index, (*work, of), of.command.phase()));
            }
        }
    }
    for (place, work) in plan.works.iter().enumerate() {
        runs.extend(qualification(plan, devices, place, work));
    }
    let mut seen: BTreeMap<&str, &Run> = BTreeMap::new();
    for run in &runs {
        if let Some(other) = seen.insert(&run.id, run) {
            let name = |run: &Run| format!("'{}' on '{}'", plan.works[run.work].name, devices[run.device].name);
            return Err(PlanError {
                what: format!("{} and {} are the same run", name(other), name(run)),
                hint: "name a device once; simulated ones differ by their seed; bench has repeat".to_owned(),
            });
        }
    }
    Ok(runs)
}

fn run(device: &Device, index: usize, (place, work): (usize, &Work), phase: Phase) -> Run {
    let words = work.words();
    // The name of power commands, which the host's file gives a meaning, is a part of what is done.
    let named: Vec<String> = words.iter().cloned().chain(work.power.clone()).collect();
    let id = run_id(&device.identity, device.seed, &named, phase);
    Run { id, device: index, others: Vec::new(), work: place, words, power: work.power.clone(), phase }
}

/// The one run of a work that holds devices against each other. What they are, on which side, and what is required is what it
/// is.
fn qualification(plan: &Plan, devices: &[Device], place: usize, work: &Work) -> Option<Run> {
    let asked = work.qualification.as_ref()?;
    let places: Vec<usize> =
        asked.devices().filter_map(|name| plan.devices.iter().position(|device| device.name == *name)).collect();
    let (first, others) = places.split_first()?;
    let mut run = run(&devices[*first], *first, (place, work), work.command.phase());
    let sides = places.iter().map(|place| devices[*place].identity.clone());
    let named: Vec<String> = [format!("of the reference: {}", asked.reference.len())]
        .into_iter()
        .chain(sides)
        .chain(run.words.iter().cloned())
        .chain([format!("power: {}", work.power.as_deref().unwrap_or_default())])
        .chain([&asked.requirements, &asked.figures].into_iter().map(|text| text.clone().unwrap_or_default()))
        .collect();
    run.id = run_id(&devices[*first].identity, devices[*first].seed, &named, run.phase);
    run.others = others.to_vec();
    Some(run)
}

/// Simulated devices are on virtual time, which no neighbour disturbs.
fn check_runs(plan: &Plan, devices: &[Device], check: &NeighbourPlan) -> Vec<Run> {
    let real: Vec<(usize, &Device)> = devices.iter().enumerate().filter(|(_, device)| !device.simulated).collect();
    if real.len() < 2 {
        return Vec::new();
    }
    let one =
        |(index, device): &(usize, &Device), phase| run(device, *index, (check.work, &plan.works[check.work]), phase);
    let mut runs = Vec::new();
    for round in 1..=check.rounds {
        // Turns change places, so that a drift of the host falls on both alike.
        let alone = real.iter().map(|device| one(device, Phase::Alone(round)));
        let beside = real.iter().map(|device| one(device, Phase::Beside(round)));
        match round % 2 {
            1 => runs.extend(alone.chain(beside)),
            _ => runs.extend(beside.chain(alone)),
        }
    }
    runs
}

#[cfg(test)]
mod tests {
    use super::*;

    fn device(identity: &str, simulated: bool) -> Device {
        Device { name: identity.to_owned(), identity: identity.to_owned(), simulated, seed: 1, parts: Vec::new() }
    }

    fn plan(rest: &str) -> Plan {
        let text = format!(
            "name = \"p\"\n{rest}[[work]]\nname = \"look\"\nrun = \"inspect\"\n\
             [[work]]\nname = \"speed\"\nrun = \"bench\"\noptions = {{ rw = \"read\" }}\n"
        );
        Plan::read(&text).unwrap()
    }

    const TWO: &str = "[[device]]\nidentity = \"a\"\n[[device]]\nidentity = \"b\"\nwork = [\"speed\"]\n";

    #[test]
    fn an_id_says_device_and_work_and_nothing_else() {
        let two = [device("a", false), device("b", false)];
        let runs = expand(&plan(TWO), &two).unwrap();
        let names: Vec<(usize, usize)> = runs.iter().map(|run| (run.device, run.work)).collect();
        assert_eq!(names, [(0, 0), (1, 1), (0, 1)]);
        let mut renamed = two.clone();
        renamed[0].name = "other".to_owned();
        renamed[0].parts = vec!["elsewhere".to_owned()];
        assert_eq!(expand(&plan(TWO), &renamed).unwrap(), runs);
        let words = vec!["inspect".to_owned()];
        let id = run_id("a", 1, &words, Phase::Timed);
        assert_eq!((id.len(), id.as_str()), (32, runs[0].id.as_str()));
        for other in [
            run_id("b", 1, &words, Phase::Timed),
            run_id("a", 2, &words, Phase::Timed),
            run_id("a", 1, &words, Phase::Alone(1)),
            run_id("a", 1, &["inspect".to_owned(), String::new()], Phase::Timed),
            run_id("a", 1, &["inspec".to_owned(), "t".to_owned()], Phase::Timed),
        ] {
            assert_ne!(id, other);
        }
    }

    #[test]
    fn a_qualification_is_one_run_on_all_its_devices() {
        let swap = "[[work]]\nname = \"swap\"\nrun = \"qualify\"\nreference = [\"device-1\"]\ncandidate = [\"device-2\"]\n\
                    options = { plan = \"emcp-replacement\" }\n";
        let two = [device("a", false), device("b", false)];
        let id = |text: &str, devices: &[Device]| {
            let runs = expand(&plan(&format!("{TWO}{text}")), devices).unwrap();
            let run = runs.iter().find(|run| run.words[0] == "qualify").expect("it is expanded").clone();
            assert_eq!((run.device, run.others.as_slice(), run.phase), (0, &[1][..], Phase::Timed));
            run.id
        };
        let usual = id(swap, &two);
        assert_eq!(id(swap, &two), usual);
        let others = [
            id(&swap.replace("\"emcp-replacement\"", "\"sd-for-boards\""), &two),
            id(&swap.replace("[\"device-1\"]\ncandidate = [", "[]\ncandidate = [\"device-1\", "), &two),
            id(&swap.replace("[[work]]\n", "[[work]]\nfigures = \"x\"\n"), &two),
            id(&swap.replace("[[work]]\n", "[[work]]\npower = \"rack\"\n"), &two),
            id(swap, &[device("a", false), device("c", false)]),
        ];
        assert!(others.iter().all(|other| *other != usual), "{others:?}");
    }

    #[test]
    fn hostile_names_of_devices_reach_no_file_name() {
        for identity in ["../../etc/passwd", "a/b\0c", "\u{1b}[2J", "", "x".repeat(10_000).as_str()] {
            let id = run_id(identity, 1, &["inspect".to_owned()], Phase::Timed);
            assert!(id.len() == 32 && id.bytes().all(|byte| byte.is_ascii_hexdigit()), "{id}");
        }
    }

    #[test]
    fn the_same_run_twice_is_refused() {
        let error = expand(&plan(TWO), &[device("a", false), device("a", false)]).expect_err("one device twice");
        assert!(error.to_string().contains("the same run"), "{error}");
    }

    #[test]
    fn neighbours_are_checked_round_by_round_on_real_devices() {
        let check = "[neighbours]\nwork = \"speed\"\nrounds = 2\n";
        let sim = "[[device]]\nsim = \"sim:a\"\n";
        let devices = [device("a", false), device("b", false), device("sim:a", true)];
        let runs = expand(&plan(&format!("{check}{TWO}{sim}")), &devices).unwrap();
        let checks: Vec<(usize, Phase)> =
            runs.iter().filter(|run| run.phase.is_check()).map(|run| (run.device, run.phase)).collect();
        let (alone, beside) = (Phase::Alone, Phase::Beside);
        assert_eq!(checks[..4], [(0, alone(1)), (1, alone(1)), (0, beside(1)), (1, beside(1))]);
        assert_eq!(checks[4..], [(0, beside(2)), (1, beside(2)), (0, alone(2)), (1, alone(2))]);
    }
}
