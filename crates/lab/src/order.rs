//! What a server tells a host to do, and what the host makes of it. An order is data from elsewhere: the host builds the words of
//! the command line again by its own rules, works out the id again, and looks into its own list of devices whose content may be
//! destroyed. Nothing that a server says adds to that list.

use crate::engine::Entry;
use crate::fleet;
use crate::plan::{PlanError, simulated};
use crate::run::{Phase, run_id};
use crate::work::{Command, Work, is_name};
use serde::{Deserialize, Serialize};

/// One run, as it is told to a host.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Order {
    /// The run.
    pub id: String,
    /// Number of this attempt.
    pub attempt: u32,
    /// What the plan calls the device.
    pub device: String,
    /// What the plan calls the work.
    pub work: String,
    /// The device: what it says of itself, or a target that is simulated.
    pub identity: String,
    /// Whether it is simulated.
    pub simulated: bool,
    /// Seed of all that is drawn on it.
    pub seed: u64,
    /// The words of the command line as the plan has them.
    pub words: Vec<String>,
    /// The name of the power commands.
    pub power: Option<String>,
}

/// Why a host does not do what it was told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// It is no order that a plan could have led to.
    Unsound(String),
    /// It writes to a device whose content nobody on this host gave up.
    Unconsented,
    /// This host has no power commands of this name.
    NoPower(String),
}

impl std::fmt::Display for Refusal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Refusal::Unsound(why) => write!(f, "refused: no plan leads to this order: {why}"),
            Refusal::Unconsented => write!(f, "refused: nobody on the device's host allowed to destroy its content"),
            Refusal::NoPower(name) => write!(f, "refused: the device's host has no power commands called '{name}'"),
        }
    }
}

impl Order {
    /// The order for a run that was claimed.
    pub fn of(entry: &Entry, simulated: bool, seed: u64, attempt: u32) -> Order {
        Order {
            id: entry.run.id.clone(),
            attempt,
            device: entry.device.clone(),
            work: entry.work.clone(),
            identity: entry.identity.clone(),
            simulated,
            seed,
            words: entry.run.words.clone(),
            power: entry.run.power.clone(),
        }
    }

    /// The work, where a plan can have asked for it, and this host allows it: `consent` are identities of devices whose content
    /// may be destroyed, `powers` names of power commands.
    ///
    /// # Errors
    /// Why it is not done here.
    pub fn check(&self, consent: &[String], powers: &[&str]) -> Result<Work, Refusal> {
        let unsound = |why: &str| Refusal::Unsound(why.to_owned());
        if !is_name(&self.device) || !is_name(&self.work) {
            return Err(unsound("a name holds what no name may"));
        }
        let work = Work::of_words(&self.work, &self.words, self.power.clone())
            .map_err(|PlanError { what, .. }| Refusal::Unsound(what))?;
        match self.simulated {
            true if work.command == Command::Fleet => match fleet::is_fleet(&self.identity) {
                true => {}
                false => return Err(unsound("it names no fleet")),
            },
            true => drop(simulated(self.identity.clone()).map_err(|error| Refusal::Unsound(error.what))?),
            false if work.command == Command::Fleet => return Err(unsound("a fleet is told as a real device")),
            false if self.identity.starts_with("sim:") => {
                return Err(unsound("a simulated device is told as a real one"));
            }
            false => {}
        }
        let named: Vec<String> = self.words.iter().cloned().chain(self.power.clone()).collect();
        if self.id != run_id(&self.identity, self.seed, &named, self.phase(&work)) {
            return Err(unsound("its id is that of another run"));
        }
        if let Some(name) = self.power.as_ref().filter(|name| !powers.contains(&name.as_str())) {
            return Err(Refusal::NoPower(name.clone()));
        }
        if !self.simulated && work.must_write() && !consent.contains(&self.identity) {
            return Err(Refusal::Unconsented);
        }
        Ok(work)
    }

    /// What may go on beside it.
    pub fn phase(&self, work: &Work) -> Phase {
        work.command.phase()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order(identity: &str, words: &[&str]) -> Order {
        let words: Vec<String> = words.iter().map(|word| word.to_string()).collect();
        Order {
            id: run_id(identity, 1, &words, Phase::Timed),
            attempt: 1,
            device: "card".to_owned(),
            work: "look".to_owned(),
            identity: identity.to_owned(),
            simulated: identity.starts_with("sim:"),
            seed: 1,
            words,
            power: None,
        }
    }

    #[test]
    fn what_writes_is_refused_without_consent_on_this_host_whatever_the_server_says() {
        let writes = order("0x1c:79", &["bench", "--rw=randwrite"]);
        assert_eq!(writes.check(&[], &[]), Err(Refusal::Unconsented));
        assert_eq!(writes.check(&["0x1c:78".to_owned()], &[]), Err(Refusal::Unconsented));
        assert!(writes.check(&["0x1c:79".to_owned()], &[]).is_ok());
        assert!(order("0x1c:79", &["inspect"]).check(&[], &[]).is_ok(), "reading asks for none");
        // A server that calls a real device a simulated one.
        for identity in ["0x1c:79", "/dev/sda", "sim:../x", "sim:./mine.toml"] {
            let lie = Order { simulated: true, ..order(identity, &["bench", "--rw=randwrite"]) };
            assert!(matches!(lie.check(&[], &[]), Err(Refusal::Unsound(_))), "{identity}");
        }
        let lie = Order { simulated: false, ..order("sim:sd-4mib", &["bench", "--rw=randwrite"]) };
        assert!(lie.check(&[], &[]).is_err());
    }

    #[test]
    fn what_no_plan_leads_to_is_refused() {
        for words in [
            &["sh", "-c", "true"][..],
            &[],
            &["inspect", "--output=/etc/passwd"],
            &["inspect", "--destroy-data=0x1c:79"],
            &["inspect", "/dev/sda"],
            &["bench", "--rw=read", "--job=x.toml"],
            &["bench", "--rw=read", "--rw=write"],
            &["bench", "--runtime=1s", "--rw=read", "-o", "x"],
            &["app", "../x"],
            &["integrity", "--power-off=reboot"],
        ] {
            let refused = order("sim:sd-4mib", words).check(&[], &[]);
            assert!(matches!(refused, Err(Refusal::Unsound(_))), "{words:?}: {refused:?}");
        }
        let good = order("sim:sd-4mib", &["inspect"]);
        assert!(good.check(&[], &[]).is_ok());
        assert!(Order { id: "../../etc".to_owned(), ..good.clone() }.check(&[], &[]).is_err());
        assert!(Order { seed: 2, ..good.clone() }.check(&[], &[]).is_err());
        assert!(Order { device: "a/b".to_owned(), ..good }.check(&[], &[]).is_err());
        let mut cut = order("0x1c:79", &["integrity", "--cuts=3"]);
        cut.power = Some("rack".to_owned());
        let named: Vec<String> = cut.words.iter().cloned().chain(cut.power.clone()).collect();
        cut.id = run_id(&cut.identity, 1, &named, Phase::Wear);
        assert_eq!(cut.check(&["0x1c:79".to_owned()], &[]), Err(Refusal::NoPower("rack".to_owned())));
        assert!(cut.check(&["0x1c:79".to_owned()], &["rack"]).is_ok());
    }

    #[test]
    fn a_fleet_is_refused_that_is_told_as_something_else() {
        let words = ["fleet", "--devices=4", "--first=0", "--generator=wide"];
        let good = Order { simulated: true, ..order("fleet:0.1.0", &words) };
        assert!(good.check(&[], &[]).is_ok(), "{:?}", good.check(&[], &[]));
        for lie in [
            Order { simulated: false, ..good.clone() },
            Order { simulated: true, ..order("sim:sd-4mib", &words) },
            Order { simulated: true, ..order("fleet:../x", &words) },
            Order { simulated: true, ..order("fleet:0.1.0", &["inspect"]) },
            Order { simulated: true, ..order("fleet:0.1.0", &["fleet", "--first=0", "--generator=wide"]) },
            Order { simulated: true, ..order("fleet:0.1.0", &[&words[..], &["--html=/etc/passwd"]].concat()) },
            Order { simulated: true, ..order("fleet:0.1.0", &[&words[..], &["--lab=nats://x:1"]].concat()) },
        ] {
            assert!(matches!(lie.check(&[], &[]), Err(Refusal::Unsound(_))), "{lie:?}");
        }
    }

    #[test]
    fn words_of_every_command_are_read_back() {
        for words in [
            &["app", "contacts", "--rounds=3"][..],
            &["bench", "--iodepth=4", "--rw=randread", "--verify"],
            &["capacity", "--full"],
            &["inspect", "--max-time=10s", "--read-only"],
            &["state", "--make=dirty"],
            &["fleet", "--devices=4", "--first=0", "--generator=wide", "--max-work=120000000000ns", "--no-naive"],
        ] {
            let owned: Vec<String> = words.iter().map(|word| word.to_string()).collect();
            assert_eq!(Work::of_words("w", &owned, None).unwrap().words(), owned);
        }
    }
}
