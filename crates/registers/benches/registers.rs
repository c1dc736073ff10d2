//! Planted contradictions found and none invented, on simulated parts of random claims; fields beside Debian's `mmc-utils` on the same
//! bytes (docs/registers.md). `scripts/prove registers [--quick] [-- --parts N --seed S]`; exit code 1 where a target is missed.
#![allow(clippy::print_stdout, missing_docs)]

use flashscope_device::{Target, WriteGrant};
use flashscope_registers::{
    Asked, Checked, DumpHint, ExtCsd, Outcome, Plant, Profile, Responder, check, decode, features, read_dump,
};
use flashscope_stats::rng::mix;
use flashscope_testkit::Targets;
use flashscope_units::Bytes;
use std::error::Error;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

fn main() -> Result<ExitCode> {
    let words: Vec<String> = std::env::args().collect();
    let after = |name: &str| words.iter().skip_while(|word| *word != name).nth(1);
    let quick = words.iter().any(|word| word == "--quick");
    let parts: u64 = after("--parts").map_or(Ok(if quick { 60 } else { 2000 }), |text| text.parse())?;
    let seed: u64 = after("--seed").map_or(Ok(18_003), |text| text.parse())?;
    let mut targets = Targets::begin(io::stdout())?;
    contradictions(&mut targets, parts, seed)?;
    beside_mmc_utils(&mut targets, if quick { 20 } else { 400 }, seed)?;
    Ok(if targets.end()? { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Numbers that follow from a seed and a place.
struct Draw(u64, u64);

impl Draw {
    fn below(&mut self, most: u64) -> u64 {
        self.1 += 1;
        mix(self.0 ^ mix(self.1)) % most
    }
}

/// A device and what a part over it honestly claims, drawn from a seed.
struct Drawn {
    model: String,
    seed: u64,
    profile: Profile,
}

impl Drawn {
    fn new(seed: u64) -> Result<Drawn> {
        let mut draw = Draw(seed, 0);
        let name = ["emmc-cached", "emmc-phone", "emmc-write-align"][draw.below(3) as usize];
        let (command, flush) = (60 + draw.below(300), 40 + draw.below(260));
        let model = format!("{name},link.command={command}us,link.flush={flush}us");
        let revision = 6 + draw.below(3) as u8;
        let mut scratch = flashscope_sim::open(&model, seed)?;
        let mut grant = all(&scratch)?;
        let honest = Profile::honest(revision, &mut scratch, &mut grant)?;
        let (queue, erased_ones) = (draw.below(33) as u8, draw.below(2) == 1);
        let profile =
            Profile { queue, erased_ones, features: draw.below(u64::from(features::ALL) + 1) as u16, ..honest };
        Ok(Drawn { model, seed, profile })
    }

    /// The same part with what a contradiction needs to be one: a claim.
    fn claiming(&self, plant: Plant) -> Option<Profile> {
        let needs_cache = matches!(plant, Plant::CacheRefused | Plant::CacheWithout | Plant::FlushLies);
        if self.profile.revision < plant.since() || needs_cache && self.profile.cache == Bytes::ZERO {
            return None;
        }
        let queue = if plant == Plant::QueueShallow { self.profile.queue.max(2) } else { self.profile.queue.max(1) };
        let feature = match plant {
            Plant::PackedRefused => features::PACKED,
            Plant::TagRefused => features::TAGS,
            Plant::ContextRefused => features::CONTEXTS,
            Plant::InterruptRefused => features::INTERRUPT,
            Plant::BackgroundRefused => features::BACKGROUND,
            Plant::BarrierRefused => features::BARRIER,
            Plant::SecureRefused => features::SECURE,
            Plant::SanitizeRefused | Plant::SanitizeLoses => features::SANITIZE,
            Plant::NotificationForgotten => features::NOTIFICATION,
            _ => 0,
        };
        Some(Profile { queue, features: self.profile.features | feature, ..self.profile })
    }

    fn checked(&self, profile: Profile, planted: &[Plant]) -> Result<Checked> {
        let target = flashscope_sim::open(&self.model, self.seed)?;
        let (own, mut grant) = (all(&target)?, all(&target)?);
        let asked = Asked::in_the_middle(profile.revision, target.facts().capacity);
        Ok(check(&mut Responder::new(target, own, profile, planted), &mut grant, asked, &mut |_, _| true)?)
    }
}

fn all(target: &impl Target) -> Result<WriteGrant> {
    Ok(WriteGrant::simulated(target.facts(), target.facts().capacity).ok_or("no right to write")?)
}

fn failing(checked: &Checked) -> Vec<&'static str> {
    checked.rows.iter().filter(|row| row.outcome == Outcome::Fails).map(|row| row.feature).collect()
}

fn contradictions(targets: &mut Targets<io::Stdout>, parts: u64, seed: u64) -> Result<()> {
    let (mut accused, mut rows, mut planted, mut found, mut elsewhere) = (0, 0, 0, 0, 0);
    for number in 0..parts {
        let drawn = Drawn::new(mix(seed ^ mix(number)))?;
        let honest = drawn.checked(drawn.profile, &[])?;
        rows += honest.rows.len();
        accused += failing(&honest).len();
        for row in honest.rows.iter().filter(|row| row.outcome == Outcome::Fails) {
            println!("invented: {} {:?}: {} ({})", drawn.model, drawn.profile, row.feature, row.shown);
        }
        // Each part gets a few, so that a fleet covers all of them often.
        for turn in 0..5 {
            let plant = Plant::ALL[((number * 5 + turn) % Plant::ALL.len() as u64) as usize];
            let Some(profile) = drawn.claiming(plant) else { continue };
            let failing = failing(&drawn.checked(profile, &[plant])?);
            planted += 1;
            let is_found = failing.contains(&plant.feature());
            found += i32::from(is_found);
            for feature in failing.iter().filter(|feature| **feature != plant.feature()) {
                println!("beside {plant:?}: {feature} in {} {profile:?}", drawn.model);
            }
            elsewhere += failing.iter().filter(|feature| **feature != plant.feature()).count();
            if !is_found {
                println!("not found: {plant:?} in {} {profile:?}", drawn.model);
            }
        }
    }
    targets.row(
        "contradictions planted and found",
        "all",
        &format!("{found} of {planted}"),
        found == planted && planted > 0,
    )?;
    targets.row("features accused beside the planted one", "0", &elsewhere.to_string(), elsewhere == 0)?;
    targets.row("features of honest parts accused", "0", &format!("{accused} of {rows}"), accused == 0)?;
    println!("a reader who believes the registers | | finds 0 of {planted} | beside");
    Ok(())
}

/// Fields as Debian's `mmc` prints them, of published dumps and of random bytes.
fn beside_mmc_utils(targets: &mut Targets<io::Stdout>, random: u64, seed: u64) -> Result<()> {
    const WHAT: &str = "fields of EXT_CSD as mmc-utils has them";
    let work = std::env::temp_dir().join(format!("flashscope-registers-{}", std::process::id()));
    std::fs::create_dir_all(&work)?;
    let outcome = (|| {
        let Some(shim) = shim(&work)? else {
            return targets.left_out(WHAT, "no mmc (mmc-utils), or no cc").map_err(Into::into);
        };
        let (mut fields, mut different) = (0, Vec::new());
        for name in ["emmc-4.41.ext_csd.txt", "emmc-5.1-samsung.ext_csd.txt", "emmc-5.1-58gib.ext_csd.bin"] {
            let bytes = std::fs::read(fixtures().join(name))?;
            let dump = read_dump(&bytes, DumpHint::default())?.ext_csd.ok_or("no EXT_CSD")?;
            fields += compare(&shim, &work, &dump, &mut different)?;
        }
        targets.row(
            &format!("{WHAT}, published dumps"),
            "all",
            &format!("{} of {fields} differ", different.len()),
            different.is_empty() && fields > 250,
        )?;
        let mut fields = 0;
        for number in 0..random {
            let mut draw = Draw(mix(seed ^ mix(number)), 1 << 20);
            let mut bytes = [0; 512];
            bytes.iter_mut().for_each(|byte| *byte = draw.below(256) as u8);
            bytes[192] = 5 + draw.below(4) as u8;
            fields += compare(&shim, &work, &ExtCsd::whole(bytes), &mut different)?;
        }
        different.iter().take(10).for_each(|line| println!("differs: {line}"));
        targets.row(
            &format!("{WHAT}, random bytes"),
            "all",
            &format!("{} of {fields} differ", different.len()),
            different.is_empty(),
        )?;
        cards(targets, &work)
    })();
    std::fs::remove_dir_all(&work)?;
    outcome
}

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/registers")
}

/// Builds what answers the ioctl of `mmc`; `None` where there is no such program, or no compiler.
fn shim(work: &Path) -> Result<Option<PathBuf>> {
    let shim = work.join("shim.so");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/shim.c");
    let built = Command::new("cc").args(["-shared", "-fPIC", "-O1", "-o"]).arg(&shim).arg(source).status();
    let has_mmc = Command::new("mmc").arg("--version").output().is_ok();
    Ok((has_mmc && built.is_ok_and(|status| status.success())).then_some(shim))
}

/// How many fields of a dump `mmc` prints that our table knows; the bytes that it has otherwise go to `different`.
fn compare(shim: &Path, work: &Path, dump: &ExtCsd, different: &mut Vec<String>) -> Result<usize> {
    let file = work.join("ext_csd.bin");
    std::fs::write(&file, dump.bytes())?;
    let said = Command::new("mmc")
        .args(["extcsd", "read", "/dev/null"])
        .env("LD_PRELOAD", shim)
        .env("FLASHSCOPE_EXT_CSD", &file)
        .output()?;
    let text = String::from_utf8_lossy(&said.stdout).into_owned();
    let theirs = read_dump(text.as_bytes(), DumpHint::default())?;
    let register = theirs.ext_csd.as_ref().ok_or_else(|| format!("mmc printed no EXT_CSD: {text}"))?;
    for at in 0..512 {
        // Two are printed as what they mean: the cache in whole KiB, the depth of the queue without the bits above it.
        let mask = [(249, 0xf8), (307, 0x1f)].iter().find(|(place, _)| *place == at).map_or(0xff, |(_, mask)| *mask);
        if let Some(byte) = register.get(at).filter(|byte| byte & mask != dump.bytes()[at] & mask) {
            different.push(format!("byte {at}: they have {byte:#04x}, the dump has {:#04x}", dump.bytes()[at]));
        }
    }
    Ok(decode(&theirs).iter().map(|register| register.fields.len()).sum())
}

/// What `mmc cid read` and `mmc csd read` say of published cards: name, serial number, size.
fn cards(targets: &mut Targets<io::Stdout>, work: &Path) -> Result<()> {
    let text = std::fs::read_to_string(fixtures().join("cards.txt"))?;
    let (mut same, mut all) = (0, 0);
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let words: Vec<&str> = line.split(' ').collect();
        std::fs::write(work.join("type"), if words[0] == "sd" { "SD\n" } else { "MMC\n" })?;
        for (name, hex) in ["cid", "csd"].iter().zip(&words[2..4]) {
            std::fs::write(work.join(name), format!("{hex}\n"))?;
        }
        let family =
            if words[0] == "sd" { flashscope_registers::Family::Sd } else { flashscope_registers::Family::Mmc };
        let cid = flashscope_registers::Cid::parse(family, words[2]).ok_or("no CID")?;
        let csd = flashscope_registers::Csd::parse(family, words[3]).ok_or("no CSD")?;
        let said = |register: &str| -> Result<String> {
            let said = Command::new("mmc").args([register, "read"]).arg(work).output()?;
            Ok(String::from_utf8_lossy(&said.stdout).into_owned())
        };
        let (said_cid, said_csd) = (said("cid")?, said("csd")?);
        let name = said_cid.split("product: '").nth(1).and_then(|rest| rest.split('\'').next()).unwrap_or_default();
        let size = csd.capacity.map_or(0, Bytes::get);
        for (what, is_same) in [
            ("name", name.trim_matches(['\0', ' ']) == cid.product),
            ("serial number", said_cid.contains(&format!("serial: {:#010x}", cid.serial))),
            ("size", said_csd.contains(&format!("({size} bytes"))),
        ] {
            all += 1;
            same += i32::from(is_same);
            if !is_same {
                println!("differs: {what} of {}: {said_cid} {said_csd}; {cid:?} {size}", words[1]);
            }
        }
    }
    Ok(targets.row(
        "names, serial numbers, sizes of published cards as mmc",
        "all",
        &format!("{same} of {all}"),
        same == all,
    )?)
}
