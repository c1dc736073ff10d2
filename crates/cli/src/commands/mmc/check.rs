//! `mmc check`.

use crate::args::MmcCheck;
use crate::error::{Failure, Outcome};
use crate::target::{self, Opened, Writes};
use crate::{interrupt, near, output, progress};
use anyhow::anyhow;
use flashscope_device::{Target, WriteGrant};
use flashscope_host::{HostPart, SysRoot};
use flashscope_model::{DeviceFacts, DeviceKind};
use flashscope_registers::{Asked, Checked, Outcome as Found, Part, Plant, Profile, Responder, check};
use flashscope_units::Bytes;
use serde_json::{Value, json};
use std::path::Path;

/// A part must hold the stretch that is checked in its middle.
const LEAST: Bytes = Bytes::mib(256);

pub(super) fn run(args: &MmcCheck) -> Result<Outcome, Failure> {
    let planted = args.plant.iter().map(|word| plant(word)).collect::<Result<Vec<Plant>, Failure>>()?;
    let cost = |facts: &DeviceFacts| match facts.kind {
        DeviceKind::Emmc if facts.capacity >= LEAST => Ok(Asked::LEAST),
        DeviceKind::Emmc => {
            Err(Failure::Cannot(anyhow!("{} is too small to be checked: a part has at least {LEAST}", facts.name)))
        }
        _ => Err(Failure::Cannot(anyhow!(
            "{} is no eMMC part, and only those have an EXT_CSD to be held against\nhint: `flashscope mmc show` shows the registers of any card",
            args.target.target
        ))),
    };
    if args.target.consent.read_only {
        return Err(Failure::Cannot(anyhow!("a check writes and erases\nhint: `flashscope mmc show` only reads")));
    }
    let checked = match target::open(&args.target, Writes::Exactly(&cost))? {
        Opened::Simulated { target: device, grant } => {
            let own = WriteGrant::simulated(device.facts(), device.facts().capacity);
            let (Some(mut grant), Some(own)) = (grant, own) else { return Err(no_right()) };
            let profile = honest(args)?;
            let mut part = Responder::new(*device, own, profile, &planted);
            checked(&mut part, &mut grant, args)?
        }
        Opened::Host { .. } if !planted.is_empty() => {
            return Err(Failure::Cannot(anyhow!(
                "a contradiction can be planted in a simulated part only\nhint: name sim:emmc-cached"
            )));
        }
        Opened::Host { target: device, grant, .. } => {
            let mut grant = grant.ok_or_else(no_right)?;
            let path = Path::new(&args.target.target);
            let mut part = HostPart::of(&SysRoot::live(), path, *device).map_err(target::failure)?;
            checked(&mut part, &mut grant, args)?
        }
    };
    output::data(&if args.json { format!("{:#}", as_json(args, &checked)) } else { as_text(&checked) })?;
    let fails = checked.rows.iter().any(|row| row.outcome == Found::Fails);
    Ok(if fails { Outcome::ExpectationFailed } else { Outcome::Done })
}

fn no_right() -> Failure {
    Failure::Cannot(anyhow!("there is no right to write to it"))
}

/// What a simulated part claims, as a copy of its device bears it out.
fn honest(args: &MmcCheck) -> Result<Profile, Failure> {
    let spec = args.target.target.trim_start_matches("sim:");
    let mut scratch = target::open_model(spec, args.target.seed)?;
    let grant = WriteGrant::simulated(scratch.facts(), scratch.facts().capacity);
    let mut grant = grant.ok_or_else(no_right)?;
    Profile::honest(args.spec.revision(), &mut scratch, &mut grant).map_err(|error| Failure::Cannot(anyhow!("{error}")))
}

fn plant(word: &str) -> Result<Plant, Failure> {
    let names: Vec<String> = Plant::ALL.iter().map(|plant| plant.word()).collect();
    Plant::ALL.into_iter().find(|plant| plant.word() == word).ok_or_else(|| {
        let hint = near::hint(word, names.iter().map(String::as_str));
        Failure::Cannot(anyhow!("there is no contradiction called '{word}'\n{hint}"))
    })
}

fn checked(part: &mut impl Part, grant: &mut WriteGrant, args: &MmcCheck) -> Result<Checked, Failure> {
    let bar = progress::bar(100, "checked");
    let asked = Asked::in_the_middle(args.spec.revision(), part.facts().capacity);
    let mut go_on = |feature: &'static str, share: f64| {
        bar.set_position((100.0 * share) as u64);
        bar.set_message(feature);
        !interrupt::asked()
    };
    let found = check(part, grant, asked, &mut go_on);
    bar.finish_and_clear();
    found.map_err(|error| Failure::Cannot(anyhow!("{error}")))
}

fn as_text(checked: &Checked) -> String {
    let count = |outcome: Found| checked.rows.iter().filter(|row| row.outcome == outcome).count();
    let failing: Vec<&str> =
        checked.rows.iter().filter(|row| row.outcome == Found::Fails).map(|row| row.feature).collect();
    let verdict = match failing.as_slice() {
        [] => "no feature does otherwise than the registers claim".to_owned(),
        failing => format!("fails: {}", failing.join(", ")),
    };
    let counts = [Found::Works, Found::Fails, Found::UnsupportedByHost, Found::UnsupportedByPart]
        .map(|outcome| format!("{} {}", count(outcome), outcome.word()));
    let mut lines = vec![verdict, counts.join(", "), String::new()];
    lines.push(format!("{:<34}  {:<19}  claims: how it was shown", "feature", "does"));
    lines.extend(checked.rows.iter().map(|row| {
        let said = format!("{}: {}", row.claims, row.shown);
        output::named(&format!("{:<34}  {:<19}", row.feature, row.outcome.word()), &said)
    }));
    lines.join("\n")
}

fn as_json(args: &MmcCheck, checked: &Checked) -> Value {
    json!({
        "schema": "flashscope.mmc-check/1",
        "target": args.target.target,
        "ext_csd_revision": args.spec.revision(),
        "seed": args.target.seed,
        "took_ns": checked.took.get(),
        "features": checked.rows.iter().map(|row| json!({
            "feature": row.feature,
            "claims": row.claims,
            "outcome": row.outcome.word(),
            "shown": row.shown,
        })).collect::<Vec<_>>(),
    })
}
