//! From sections of options to jobs.

use super::options;
use super::text::{Parsed, Said, Section};
use super::value::{self, Amount, KbBase};
use super::{FioError, Jobs, Place, World};
use crate::job::{
    Arrivals, EngineChoice, Flush, Job, JobSet, Mix, Mode, Pattern, Payload, Phase, Sharing, Sizes, Spacing, Span,
    Stop, Verify, Zones,
};
use flashscope_units::{Bytes, Nanos};

/// Sizes of a `bsrange` that are told apart at most.
const MOST_SIZES: u64 = 1 << 16;
/// fio's default block.
const BLOCK: Bytes = Bytes::kib(4);

pub(super) fn assemble(parsed: Parsed, world: &World<'_>) -> Result<Jobs, FioError> {
    let mut jobs =
        Jobs { set: JobSet { phases: Vec::new() }, notes: Vec::new(), without_effect: Vec::new(), warm: false };
    if parsed.nameless {
        jobs.notes.push("no --name begins a job: all of it is taken as one (fio would run nothing)".to_owned());
    }
    let chosen: Vec<&Section> =
        parsed.jobs.iter().filter(|job| parsed.sections.is_empty() || parsed.sections.contains(&job.name)).collect();
    if let Some(missing) = parsed.sections.iter().find(|name| !parsed.jobs.iter().any(|job| job.name == **name)) {
        let at = parsed.jobs.first().map_or(Place { file: None, line: 1 }, |job| job.at.clone());
        let names: Vec<&str> = parsed.jobs.iter().map(|job| job.name.as_str()).collect();
        return Err(FioError {
            at,
            what: format!("there is no job [{missing}]"),
            hint: Some(format!("there are {}", names.join(", "))),
        });
    }
    // The sections whose jobs run side by side last so far.
    let (mut warm, mut running) = (Vec::new(), Vec::new());
    for section in &chosen {
        let reader = Reader { section, world };
        jobs.without_effect.extend(reader.idle());
        warm.push(!reader.truth("invalidate", true)?);
        let delay = reader.time("startdelay", Nanos::secs(1))?.unwrap_or_default();
        let mine = reader.jobs(&mut jobs.notes)?;
        if let (Some(at), Some(_)) = (&parsed.read_only, mine.iter().find(|job| job.mix.has_writes())) {
            let what = format!("job '{}' writes, but --readonly was given", section.name);
            return Err(FioError { at: at.clone(), what, hint: None });
        }
        let waits = reader.truth("stonewall", false)? || reader.waits_for(&running)?;
        match jobs.set.phases.last_mut() {
            Some(phase) if !waits => {
                if phase.pause != delay {
                    let what = "jobs that run side by side begin together here, and this one has another startdelay";
                    return Err(reader.fail("startdelay", what, Some("add stonewall, or the same startdelay")));
                }
                phase.jobs.extend(mine);
                running.push(section.name.as_str());
            }
            _ => {
                jobs.set.phases.push(Phase { jobs: mine, pause: delay });
                running = vec![section.name.as_str()];
            }
        }
    }
    if jobs.set.phases.is_empty() {
        let at = Place { file: None, line: 1 };
        return Err(FioError {
            at,
            what: "there is no job".to_owned(),
            hint: Some("--name=NAME begins one".to_owned()),
        });
    }
    jobs.warm = warm.iter().all(|warm| *warm);
    if !jobs.warm && warm.contains(&true) {
        jobs.notes
            .push("invalidate=0 holds for all jobs or none here: the page cache is dropped before each".to_owned());
    }
    make_unique(&mut jobs.set);
    jobs.without_effect.extend(parsed.switches);
    jobs.without_effect.sort();
    jobs.without_effect.dedup();
    jobs.notes.dedup();
    Ok(jobs)
}

/// fio allows two jobs of one name.
fn make_unique(set: &mut JobSet) {
    let mut seen: Vec<String> = Vec::new();
    for job in set.phases.iter_mut().flat_map(|phase| &mut phase.jobs) {
        let plain = job.name.clone();
        let mut number = 2;
        while seen.contains(&job.name) {
            job.name = format!("{plain} {number}");
            number += 1;
        }
        seen.push(job.name.clone());
    }
}

/// Reads one section.
struct Reader<'a> {
    section: &'a Section,
    world: &'a World<'a>,
}

/// What a job moves in all, and how it is told.
struct Extent {
    span: Span,
    /// One pass through the span.
    pass: Bytes,
    io_size: Option<Bytes>,
}

impl<'a> Reader<'a> {
    /// The last word on an option.
    fn said(&self, name: &str) -> Option<&'a Said> {
        self.section.said.iter().rev().find(|said| said.name == name)
    }

    fn text(&self, name: &str) -> Option<&'a str> {
        self.said(name).map(|said| said.value.as_deref().unwrap_or("1"))
    }

    fn fail(&self, name: &str, what: &str, hint: Option<&str>) -> FioError {
        let at = self.said(name).map_or(&self.section.at, |said| &said.at).clone();
        let job = &self.section.name;
        let what = match what.is_empty() {
            true => format!("{name} of job '{job}'"),
            false => format!("{name} of job '{job}': {what}"),
        };
        FioError { at, what, hint: hint.map(str::to_owned) }
    }

    fn parsed<T>(&self, name: &str, parse: impl FnOnce(&str) -> Result<T, String>) -> Result<Option<T>, FioError> {
        self.text(name).map(|text| parse(text).map_err(|what| self.fail(name, &what, None))).transpose()
    }

    fn base(&self) -> Result<KbBase, FioError> {
        match self.text("kb_base").map(str::trim) {
            None | Some("1024") => Ok(KbBase::Binary),
            Some("1000") => Ok(KbBase::Standard),
            Some(_) => Err(self.fail("kb_base", "is 1024 or 1000", None)),
        }
    }

    fn bytes(&self, name: &str) -> Result<Option<Bytes>, FioError> {
        let base = self.base()?;
        self.parsed(name, |text| value::bytes(text, base))
    }

    fn number(&self, name: &str) -> Result<Option<u64>, FioError> {
        let base = self.base()?;
        self.parsed(name, |text| value::number(text, base))
    }

    fn count(&self, name: &str) -> Result<Option<u32>, FioError> {
        let found = self.number(name)?;
        found.map(|found| u32::try_from(found).map_err(|_| self.fail(name, "is too large", None))).transpose()
    }

    fn time(&self, name: &str, bare: Nanos) -> Result<Option<Nanos>, FioError> {
        self.parsed(name, |text| value::time(text, bare))
    }

    fn truth(&self, name: &str, default: bool) -> Result<bool, FioError> {
        match self.said(name) {
            None => Ok(default),
            Some(said) => value::truth(said.value.as_deref()).map_err(|what| self.fail(name, &what, None)),
        }
    }

    /// Options of this job that change no result.
    fn idle(&self) -> Vec<String> {
        let idle = |said: &&Said| match options::find(said.name) {
            Some((_, options::Kind::Ignored | options::Kind::Refused(_))) => true,
            Some((name, _)) => options::is_idle_flag(name),
            None => false,
        };
        self.section.said.iter().filter(idle).map(|said| said.name.to_owned()).collect()
    }

    /// The job, or one per file where fio would make several.
    fn jobs(&self, notes: &mut Vec<String>) -> Result<Vec<Job>, FioError> {
        self.refuse_values()?;
        let workers = self.count("numjobs")?.unwrap_or(1);
        if !(1..=crate::plan::MOST_WORKERS).contains(&workers) {
            return Err(self.fail("numjobs", "must be from 1 to 1024", None));
        }
        let increment = self.amount("offset_increment")?;
        let folder = self.text("directory").map(|folder| folder.trim_end_matches('/'));
        let place = |name: &str| match folder {
            Some(folder) if !name.starts_with('/') => format!("{folder}/{name}"),
            _ => name.to_owned(),
        };
        let files = self.count("nrfiles")?.filter(|files| *files != 1);
        if let Some(name) = self.text("filename") {
            if files.is_some() {
                return Err(self.fail(
                    "nrfiles",
                    "says nothing where there is a filename",
                    Some("leave one of them away"),
                ));
            }
            let mut names = self.names(name)?.into_iter().map(|name| place(&name));
            let first = names.next().unwrap_or_default();
            let mut job = self.job(first, names.collect(), notes)?;
            job.workers = workers;
            job.sharing = match increment {
                None | Some(Amount::Bytes(0)) => Sharing::Whole,
                Some(Amount::Bytes(bytes)) => Sharing::Shifted(Bytes(bytes)),
                Some(Amount::Percent(_)) => return Err(self.fail("offset_increment", "is no percentage here", None)),
            };
            return Ok(vec![job]);
        }
        if increment.is_some() {
            return Err(self.fail("offset_increment", "needs a filename that the jobs share", None));
        }
        let format = self.text("filename_format").unwrap_or("$jobname.$jobnum.$filenum");
        if files.is_some() && self.said("filename_format").is_some() {
            return Err(self.fail("filename_format", "files of a folder have names of their own here", None));
        }
        (0..workers)
            .map(|index| {
                let name = format.replace("$jobname", &self.section.name).replace("$jobnum", &index.to_string());
                let mut job = self.job(place(&name.replace("$filenum", "0")), Vec::new(), notes)?;
                job.files = files;
                if workers > 1 {
                    job.name = format!("{}.{index}", job.name);
                    job.seed = job.seed.wrapping_add(u64::from(index));
                }
                Ok(job)
            })
            .collect()
    }

    /// Values of options of which only some can be carried out.
    fn refuse_values(&self) -> Result<(), FioError> {
        for (name, allowed, why) in [
            ("zonemode", "none", "there are no zones here"),
            ("dedupe_percentage", "0", "there is no such payload here"),
            ("cpus_allowed_policy", "shared", "all workers of a job share its processors here"),
        ] {
            if self.text(name).is_some_and(|text| text != allowed) {
                return Err(self.fail(name, why, Some("leave it away, or use fio for this job")));
            }
        }
        Ok(())
    }

    /// The file names between colons; a colon that belongs to a name is escaped.
    fn names(&self, text: &str) -> Result<Vec<String>, FioError> {
        let plain = text.replace("\\:", "\u{0}");
        if plain.starts_with("sim:") {
            return Ok(vec![text.to_owned()]);
        }
        let names: Vec<String> = plain.split(':').map(|name| name.trim().replace('\u{0}', ":")).collect();
        if names.iter().any(|name| name == "-") {
            return Err(self.fail("filename", "standard input and output are no targets", None));
        }
        if names.iter().any(String::is_empty) {
            let hint = "a colon in a name is written \\:";
            return Err(self.fail("filename", "there is nothing between two colons", Some(hint)));
        }
        Ok(names)
    }

    /// Whether it waits for all jobs that run last so far: those of the section that it names, where these are all.
    fn waits_for(&self, running: &[&str]) -> Result<bool, FioError> {
        let Some(name) = self.text("wait_for") else { return Ok(false) };
        if running.iter().all(|other| *other == name) && !running.is_empty() {
            return Ok(true);
        }
        let hint = "add stonewall to wait for all jobs before it";
        Err(self.fail(
            "wait_for",
            "a job here waits for all that run beside each other before it, or for none",
            Some(hint),
        ))
    }

    /// `exitall` ends a reporting group; here it ends what runs side by side, which is the same where that is one group.
    fn ends_all(&self) -> Result<bool, FioError> {
        let ends = self.truth("exitall", false)?;
        let groups = self.truth("new_group", false)?;
        match self.text("exit_what") {
            _ if !ends => Ok(false),
            Some("stonewall") => Ok(true),
            None | Some("group") if !groups => Ok(true),
            None | Some("group") => {
                let hint = "with exit_what=stonewall it ends all jobs up to the next stonewall";
                Err(self.fail("exitall", "groups are not told apart here", Some(hint)))
            }
            Some(_) => Err(self.fail(
                "exit_what",
                "jobs that come later run all the same here",
                Some("one of group, stonewall"),
            )),
        }
    }

    /// From a list or a mask.
    fn processors(&self) -> Result<Option<Vec<u32>>, FioError> {
        if let Some(list) = self.parsed("cpus_allowed", crate::file::processors)? {
            return Ok(Some(list));
        }
        let mask = self.number("cpumask")?;
        Ok(mask.map(|mask| (0..u64::BITS).filter(|bit| mask >> bit & 1 == 1).collect()))
    }

    fn amount(&self, name: &str) -> Result<Option<Amount>, FioError> {
        let base = self.base()?;
        self.parsed(name, |text| value::amount(text, base))
    }

    fn job(&self, target: String, more: Vec<String>, notes: &mut Vec<String>) -> Result<Job, FioError> {
        let mut job = Job::new(self.text("name").unwrap_or(&self.section.name));
        let mut note = |what: String| {
            let line = format!("{}: {what}", self.section.name);
            if !notes.contains(&line) {
                notes.push(line);
            }
        };
        (job.read_sizes, job.write_sizes) = self.sizes()?;
        job.align = self.bytes("ba")?.filter(|align| *align > Bytes::ZERO);
        self.engine(&mut job, &mut note)?;
        self.mode(&mut job, &mut note)?;
        let step = self.direction(&mut job, &mut note)?;
        self.distribution(&mut job)?;
        if !more.is_empty() {
            note("filename: the files are used as if they lay end to end, in order one after another".to_owned());
        }
        job.more = more;
        let extent = self.extent(&job, &target)?;
        job.span = extent.span;
        job.target = Some(target);
        job.ends_all = self.ends_all()?;
        job.processors = self.processors()?;
        job.stop = self.stop(&job, &extent, step)?;
        job.warm_up = self.time("ramp_time", Nanos::secs(1))?.unwrap_or_default();
        job.arrivals = self.arrivals(&mut job, &mut note)?;
        job.flush = self.flush(&mut note)?;
        self.data(&mut job, &mut note)?;
        if let Some(seed) = self.number("randseed")? {
            job.seed = seed;
        }
        for name in ["randrepeat", "allrandrepeat"] {
            if self.said(name).is_some() && !self.truth(name, true)? {
                note(format!("{name}=0: the seed of --seed decides, the same gives the same requests"));
            }
        }
        Ok(job)
    }

    /// `8k`, `8k,32k` for reads and writes, `,8k` for writes only; or a range, or sizes with shares.
    fn sizes(&self) -> Result<(Sizes, Sizes), FioError> {
        let base = self.base()?;
        let last = |names: [&'static str; 3]| {
            names
                .into_iter()
                .max_by_key(|name| self.section.said.iter().rposition(|said| said.name == *name).map(|at| at + 1))
        };
        let name = last(["bs", "bsrange", "bssplit"]).filter(|name| self.said(name).is_some());
        let Some(name) = name else { return Ok((Sizes::one(BLOCK), Sizes::one(BLOCK))) };
        let one = |text: &str| match name {
            "bs" => value::bytes(text, base).map(Sizes::one),
            "bsrange" => range(text, base),
            _ => split(text, base),
        };
        self.parsed(name, |text| {
            let mut parts = text.split(',').map(str::trim);
            let (read, write, more) = (parts.next().unwrap_or_default(), parts.next(), parts.count());
            if more > 1 {
                return Err("has more than three parts".to_owned());
            }
            let of = |part: &str| if part.is_empty() { Ok(Sizes::one(BLOCK)) } else { one(part) };
            let reads = of(read)?;
            // One size alone holds for both.
            let writes = write.map_or_else(|| Ok(reads.clone()), of)?;
            match [&reads, &writes].iter().any(|sizes| sizes.smallest() == Bytes::ZERO) {
                true => Err("a block has at least 1 byte".to_owned()),
                false => Ok((reads, writes)),
            }
        })
        .map(Option::unwrap_or_default)
    }

    fn engine(&self, job: &mut Job, note: &mut impl FnMut(String)) -> Result<(), FioError> {
        let name = self.text("ioengine").unwrap_or("psync");
        let mut ours = |choice, how: &str| {
            note(format!("ioengine={name}: {how}"));
            choice
        };
        job.engine = match name {
            "psync" => EngineChoice::Sync,
            "sync" | "pvsync" | "pvsync2" | "vsync" => ours(EngineChoice::Sync, "requests go through pread and pwrite"),
            "io_uring" => EngineChoice::Uring,
            "posixaio" => EngineChoice::Aio,
            "libaio" => ours(EngineChoice::Uring, "requests go through io_uring"),
            "mmap" => EngineChoice::Mmap,
            "null" => EngineChoice::Null,
            _ => {
                let hint = "one of psync, sync, pvsync, pvsync2, vsync, io_uring, libaio, posixaio, mmap, null";
                return Err(self.fail("ioengine", &format!("there is no engine '{name}' here"), Some(hint)));
            }
        };
        let depth = self.count("iodepth")?.unwrap_or(1);
        if !(1..=crate::plan::MOST_DEPTH).contains(&depth) {
            return Err(self.fail("iodepth", "must be from 1 to 4096", None));
        }
        if depth > 1 && matches!(job.engine, EngineChoice::Sync | EngineChoice::Mmap) {
            note(format!("iodepth={depth}: {name} does one request at a time, in fio as here"));
        } else {
            job.queue_depth = depth;
        }
        let batch = self.count("iodepth_batch")?.map(|batch| batch.min(job.queue_depth));
        let low = self.count("iodepth_low")?.filter(|low| *low < job.queue_depth);
        job.batch = match low {
            // fio fills the queue up again once so few are left.
            Some(low) => Some(job.queue_depth - low),
            None => batch,
        };
        job.batch = job.batch.filter(|batch| *batch > 1);
        let reap = self.count("iodepth_batch_complete_min")?;
        job.reap = reap.filter(|reap| *reap > 0).map(|reap| reap.min(job.queue_depth)).filter(|reap| *reap > 1);
        if self.said("iodepth_batch_complete_max").is_some() {
            note("iodepth_batch_complete_max: all that has ended is taken at once".to_owned());
        }
        job.polled = self.truth("hipri", false)?;
        Ok(())
    }

    fn mode(&self, job: &mut Job, note: &mut impl FnMut(String)) -> Result<(), FioError> {
        let direct = match self.section.said.iter().rev().find(|said| matches!(said.name, "direct" | "buffered")) {
            Some(said) if said.name == "buffered" => !self.truth("buffered", true)?,
            Some(_) => self.truth("direct", false)?,
            None => false,
        };
        let durable = match self.text("sync").map(str::trim) {
            None | Some("0" | "none") => false,
            Some("1" | "sync" | "dsync") => true,
            Some(_) => return Err(self.fail("sync", "is none, sync or dsync", None)),
        };
        job.mode = match (direct, durable) {
            (true, false) => Mode::Direct,
            (true, true) => Mode::Dsync,
            (false, false) => Mode::Cached,
            (false, true) => Mode::WriteThrough,
        };
        let hint = self.text("fadvise_hint").map(str::trim);
        if !direct && hint.is_some_and(|hint| !matches!(hint, "0" | "none")) {
            note(
                "fadvise_hint: the kernel is told nothing of the order of requests, as with fadvise_hint=0".to_owned(),
            );
        }
        Ok(())
    }

    /// What `rw` says; the stride, where it has one.
    fn direction(&self, job: &mut Job, note: &mut impl FnMut(String)) -> Result<Option<Bytes>, FioError> {
        let text = self.text("rw").unwrap_or("read");
        let (word, more) = text.split_once(':').map_or((text, None), |(word, more)| (word, Some(more)));
        let random = word.starts_with("rand");
        job.mix = match word {
            "read" | "randread" => Mix::READ,
            "write" | "randwrite" => Mix::WRITE,
            "rw" | "readwrite" | "randrw" => self.mix()?,
            "trim" | "randtrim" | "trimwrite" | "randtrimwrite" => {
                return Err(self.fail("rw", "nothing is discarded here", Some("use fio, or blkdiscard, for it")));
            }
            _ => {
                let hint = "one of read, write, rw, readwrite, randread, randwrite, randrw";
                return Err(self.fail("rw", &format!("there is no '{word}'"), Some(hint)));
            }
        };
        let one_size = single(job);
        job.pattern = match (random, self.truth("norandommap", false)?, one_size) {
            (false, ..) => Pattern::Sequential,
            (true, false, Some(_)) if job.align.is_none_or(|align| Some(align) == one_size) => Pattern::RandomOnce,
            (true, false, _) => {
                note(
                    "places are drawn independently of each other, as blocks of several sizes or alignments overlap"
                        .to_owned(),
                );
                Pattern::Random
            }
            (true, true, _) => Pattern::Random,
        };
        if let Some(percent) = self.number("percentage_random")?
            && percent != if random { 100 } else { 0 }
        {
            return Err(self.fail("percentage_random", "requests are all in order or all at random here", None));
        }
        match more {
            None => Ok(None),
            Some(_) if random => Err(self.fail("rw", "places are drawn anew for each request here", None)),
            Some(more) => self.stride(job, more).map(Some),
        }
    }

    /// `rw=read:4k` leaves 4 KiB out after every request; `rw=read:-8k` goes backwards with 4 KiB blocks.
    fn stride(&self, job: &mut Job, more: &str) -> Result<Bytes, FioError> {
        let base = self.base()?;
        let Some(block) = single(job) else {
            return Err(self.fail("rw", "leaving out between requests needs one block size", None));
        };
        let (back, text) = more.strip_prefix('-').map_or((false, more), |text| (true, text));
        let add = value::bytes(text, base).map_err(|what| self.fail("rw", &what, None))?;
        if back && add == block * 2 {
            job.pattern = Pattern::Backward;
            return Ok(block);
        }
        if back || job.mix.has_reads() && job.mix.has_writes() {
            let hint = "backwards goes by whole blocks: rw=read:-8k with bs=4k";
            return Err(self.fail("rw", "there is no such pattern of requests here", Some(hint)));
        }
        let stride = block + add;
        job.pattern = if add == Bytes::ZERO { Pattern::Sequential } else { Pattern::Skipping { stride } };
        Ok(stride)
    }

    fn mix(&self) -> Result<Mix, FioError> {
        let last = self.section.said.iter().rev().find(|said| matches!(said.name, "rwmixread" | "rwmixwrite"));
        let Some(said) = last else { return Ok(Mix { reads: 0.5 }) };
        let percent = self.number(said.name)?.filter(|percent| *percent <= 100);
        let percent = percent.ok_or_else(|| self.fail(said.name, "is from 0 to 100", None))? as f64 / 100.0;
        Ok(Mix { reads: if said.name == "rwmixread" { percent } else { 1.0 - percent } })
    }

    fn distribution(&self, job: &mut Job) -> Result<(), FioError> {
        let Some(text) = self.text("random_distribution") else { return Ok(()) };
        if !job.pattern.is_random() {
            return Ok(());
        }
        let refused = |what: &str| {
            self.fail("random_distribution", what, Some("one of random, zipf:THETA, pareto:H, zoned:REQUESTS/SPAN:…"))
        };
        let (word, more) = text.split_once(':').unwrap_or((text, ""));
        job.pattern = match word {
            "random" if more.is_empty() => return Ok(()),
            "zipf" => {
                let theta = if more.is_empty() { Ok(1.1) } else { value::real(more) };
                Pattern::Zipf { theta: theta.map_err(|what| refused(&what))? }
            }
            "pareto" => {
                let h = if more.is_empty() { Ok(0.2) } else { value::real(more) };
                Pattern::Pareto { h: h.map_err(|what| refused(&what))? }
            }
            // Zones of writes may differ in fio; they are one flow of requests here.
            "zoned" if more.contains(',') => return Err(refused("reads and writes have the same zones here")),
            "zoned" => Pattern::Zoned(zones(more).map_err(|what| refused(&what))?),
            _ => return Err(refused(&format!("there is no '{text}' here"))),
        };
        Ok(())
    }

    fn extent(&self, job: &Job, target: &str) -> Result<Extent, FioError> {
        // Of several files an equal part of each is used: as much as the smallest has.
        let sizes = std::iter::once(target).chain(job.more.iter().map(String::as_str)).map(self.world.size);
        let each: Option<Bytes> = sizes.collect::<Option<Vec<_>>>().and_then(|sizes| sizes.into_iter().min());
        let capacity = each.map(|each| each * (job.more.len() as u64 + 1));
        if self.truth("fill_device", false)? && (self.said("size").is_some() || !target.starts_with("/dev/")) {
            let what = "what a file grows to until nothing is free is not known beforehand";
            return Err(self.fail("fill_device", what, Some("on a block device, without a size, it writes all of it")));
        }
        let of = |name: &str, whole: Option<Bytes>| -> Result<Option<Bytes>, FioError> {
            match (self.amount(name)?, whole) {
                (None, _) => Ok(None),
                (Some(Amount::Bytes(bytes)), _) => Ok(Some(Bytes(bytes))),
                (Some(Amount::Percent(percent)), Some(whole)) => {
                    let part = Bytes((whole.as_f64() * percent / 100.0) as u64);
                    Ok(Some(part.align_down(job.smallest().max(Bytes(1)))))
                }
                (Some(Amount::Percent(_)), None) => {
                    Err(self.fail(name, &format!("there is nothing at {target} yet that it could be a share of"), None))
                }
            }
        };
        let start = of("offset", capacity)?.unwrap_or(Bytes::ZERO);
        // fio's "file size" is the size of a file that it makes; `size` is how much of it is used.
        let size = match of("size", capacity)? {
            Some(size) => Some(size),
            None => {
                let files = u64::from(self.count("nrfiles")?.unwrap_or(1).max(1));
                let each = self.bytes("filesize")?;
                each.map(|each| {
                    each.get().checked_mul(files).map(Bytes).ok_or(self.fail("filesize", "is too large", None))
                })
                .transpose()?
            }
        };
        let size = match (size, capacity) {
            (Some(size), _) => size,
            (None, Some(capacity)) => capacity.saturating_sub(start),
            (None, None) => {
                return Err(self.fail(
                    "size",
                    &format!("is needed, as there is nothing at {target} yet"),
                    Some("add size=1g"),
                ));
            }
        };
        if size < job.smallest() {
            return Err(self.fail("size", &format!("{size} is less than one block of {}", job.smallest()), None));
        }
        let io_size = of("io_size", Some(size))?;
        Ok(Extent { span: Span { start, length: Some(size) }, pass: size, io_size })
    }

    fn stop(&self, job: &Job, extent: &Extent, step: Option<Bytes>) -> Result<Stop, FioError> {
        let time = self.time("runtime", Nanos::secs(1))?.filter(|time| time.get() > 0);
        if self.truth("time_based", false)? {
            let time = time.ok_or_else(|| self.fail("time_based", "needs a runtime", None))?;
            return Ok(Stop { time: Some(time), ..Stop::default() });
        }
        let loops = self.number("loops")?.unwrap_or(1).max(1);
        let number = self.number("number_ios")?.filter(|number| *number > 0);
        // Whole blocks of a pass: the last one that does not fit is left out, but where places are independent fio goes
        // on until the size is reached.
        let pass = match (single(job), job.pattern) {
            (Some(block), Pattern::RandomOnce | Pattern::Sequential | Pattern::Backward) => {
                extent.pass.align_down(block)
            }
            _ => extent.pass,
        };
        let bytes = match (extent.io_size, step) {
            (Some(io_size), _) => io_size,
            // fio goes through the holes once where it does not begin at 0, else until the size is reached.
            (None, Some(step))
                if extent.span.start > Bytes::ZERO && matches!(job.pattern, Pattern::Skipping { .. }) =>
            {
                let block = single(job).unwrap_or(BLOCK);
                block * extent.pass.get().div_ceil(step.get())
            }
            (None, _) => pass,
        };
        let bytes = bytes.get().checked_mul(loops).map(Bytes);
        let bytes = bytes.ok_or_else(|| self.fail("loops", "is too large", None))?;
        Ok(Stop { bytes: Some(bytes), requests: number, time, steady: None })
    }

    fn arrivals(&self, job: &mut Job, note: &mut impl FnMut(String)) -> Result<Arrivals, FioError> {
        let base = self.base()?;
        let spacing = match self.text("rate_process") {
            None | Some("linear") => Spacing::Even,
            Some("poisson") => Spacing::Poisson,
            Some(_) => return Err(self.fail("rate_process", "is linear or poisson", None)),
        };
        let think = self.time("thinktime", Nanos::micros(1))?.filter(|time| time.get() > 0);
        let name = ["rate_iops", "rate"].into_iter().find(|name| self.said(name).is_some());
        let Some(name) = name else {
            return Ok(match think {
                None => Arrivals::AsFastAsPossible,
                Some(time) => Arrivals::Think { time, every: self.count("thinktime_blocks")?.unwrap_or(1).max(1) },
            });
        };
        if think.is_some() {
            return Err(self.fail(name, "a rate and a thinktime exclude each other here", None));
        }
        let text = self.text(name).unwrap_or_default();
        let parts: Vec<&str> = text.split(',').map(str::trim).collect();
        let part = |index: usize| {
            // One figure alone holds for each direction.
            let text = if parts.len() == 1 { parts[0] } else { parts.get(index).copied().unwrap_or_default() };
            let rate = if text.is_empty() { Ok(0) } else { value::number(text, base) };
            rate.map_err(|what| self.fail(name, &what, None))
        };
        let requests = |index: usize, sizes: &Sizes| -> Result<f64, FioError> {
            match (name, &sizes.0[..]) {
                ("rate_iops", _) => Ok(part(index)? as f64),
                (_, [(size, _)]) => Ok(part(index)? as f64 / size.as_f64()),
                _ => Err(self.fail(name, "needs one block size", Some("rate_iops takes any sizes"))),
            }
        };
        let (reads, writes) = (requests(0, &job.read_sizes)?, requests(1, &job.write_sizes)?);
        let per_second = match (job.mix.has_reads(), job.mix.has_writes()) {
            (true, false) => reads,
            (false, _) => writes,
            (true, true) => {
                if reads <= 0.0 || writes <= 0.0 {
                    let hint = "write one rate for each, as in rate_iops=300,100";
                    return Err(self.fail(name, "reads and writes share one flow of requests here", Some(hint)));
                }
                // Each direction keeps its own rate in fio, whatever rwmixread says.
                let both = reads + writes;
                if (reads - both * job.mix.reads).abs() > 0.01 * both {
                    let share = reads / both * 100.0;
                    note(format!(
                        "{name}: {share:.0} % of the requests are reads, as these rates have it (not rwmixread)"
                    ));
                }
                job.mix.reads = reads / both;
                both
            }
        };
        if per_second <= 0.0 {
            return Err(self.fail(name, "is not above 0 for this job", None));
        }
        note(format!(
            "{name}: requests are due at times of their own (open loop), and response times count from these"
        ));
        Ok(Arrivals::Rate { per_second, spacing })
    }

    fn flush(&self, note: &mut impl FnMut(String)) -> Result<Flush, FioError> {
        let every = |name: &str| Ok::<_, FioError>(self.number(name)?.filter(|every| *every > 0));
        let (fsync, fdatasync) = (every("fsync")?, every("fdatasync")?);
        if fsync.is_some() && fdatasync.is_some() {
            return Err(self.fail("fsync", "fsync and fdatasync exclude each other here", None));
        }
        let at_end = self.truth("end_fsync", false)? || self.truth("fsync_on_close", false)?;
        if fsync.is_some() || at_end {
            note("flushes are fdatasync, which leaves times of the file out".to_owned());
        }
        Ok(Flush { every: fsync.or(fdatasync), at_end })
    }

    /// Payload and verification.
    fn data(&self, job: &mut Job, note: &mut impl FnMut(String)) -> Result<(), FioError> {
        if self.truth("zero_buffers", false)? {
            job.payload = Payload::Byte(0);
        } else if let Some(text) = self.text("buffer_pattern") {
            let byte = value::number(text, KbBase::Binary).ok().and_then(|number| u8::try_from(number).ok());
            let byte = byte.ok_or_else(|| self.fail("buffer_pattern", "is one byte here, like 0x5a", None))?;
            job.payload = Payload::Byte(byte);
        } else if let Some(percent) = self.number("buffer_compress_percentage")? {
            if percent > 100 {
                return Err(self.fail("buffer_compress_percentage", "is from 0 to 100", None));
            }
            job.payload = Payload::Compressible(percent as f64 / 100.0);
        } else if self.truth("refill_buffers", false)? && job.mix.has_writes() {
            job.payload = Payload::Tagged { generation: 1 };
        }
        let verify = self.text("verify").unwrap_or("0");
        if matches!(verify, "0" | "none" | "null") {
            return Ok(());
        }
        note(format!(
            "verify={verify}: blocks carry our own tags instead (position, generation and incompressible bytes)"
        ));
        let check = self.truth("do_verify", true)?;
        match job.mix.has_writes() {
            true if check => (job.payload, job.verify) = (Payload::Incompressible, Verify::Written),
            true => job.payload = Payload::Tagged { generation: 1 },
            false if check => job.verify = Verify::Generation(1),
            false => {}
        }
        Ok(())
    }
}

/// The one block size of a job.
fn single(job: &Job) -> Option<Bytes> {
    let used = [job.mix.has_reads().then_some(&job.read_sizes), job.mix.has_writes().then_some(&job.write_sizes)];
    let mut sizes = used.into_iter().flatten().flat_map(|sizes| &sizes.0).map(|(size, _)| *size);
    let first = sizes.next()?;
    sizes.all(|size| size == first).then_some(first)
}

/// `4k-16k`: all multiples of the smallest, each as often.
fn range(text: &str, base: KbBase) -> Result<Sizes, String> {
    let (low, high) = text.split_once(['-', ':']).ok_or_else(|| format!("'{text}' is no range, like 4k-16k"))?;
    let (low, high) = (value::bytes(low, base)?, value::bytes(high, base)?);
    let (low, high) = (low.min(high), low.max(high));
    if low == Bytes::ZERO {
        return Err("a block has at least 1 byte".to_owned());
    }
    if high / low > MOST_SIZES {
        return Err(format!("more than {MOST_SIZES} sizes"));
    }
    Ok(Sizes((1..=high / low).map(|times| (low * times, 1)).collect()))
}

/// `4k/50:64k/50`: sizes with percentages; those without share what is left.
fn split(text: &str, base: KbBase) -> Result<Sizes, String> {
    let one = |part: &str| {
        let (size, percent) = part.split_once('/').unwrap_or((part, ""));
        let percent = match percent.trim() {
            "" => None,
            percent => Some(percent.parse::<u32>().map_err(|_| format!("'{percent}' is no percentage"))?),
        };
        Ok::<_, String>((value::bytes(size, base)?, percent))
    };
    let parts: Vec<(Bytes, Option<u32>)> = text.split(':').map(one).collect::<Result<_, _>>()?;
    let told: u64 = parts.iter().filter_map(|(_, percent)| *percent).map(u64::from).sum();
    if told > 100 {
        return Err("the percentages add up to more than 100".to_owned());
    }
    let open = parts.iter().filter(|(_, percent)| percent.is_none()).count() as u64;
    // In parts of all weights, so that a rest that does not divide evenly is still shared evenly.
    let scale = open.max(1) as u32;
    let rest = 100 - told as u32;
    let last = parts.len() - 1;
    let weight = |index: usize, percent: Option<u32>| match percent {
        None => rest,
        // What nobody claims goes to the last one.
        Some(percent) if open == 0 && index == last => (percent + rest) * scale,
        Some(percent) => percent * scale,
    };
    Ok(Sizes(parts.iter().enumerate().map(|(index, (size, percent))| (*size, weight(index, *percent))).collect()))
}

/// `50/5:30/15:20/`: shares of the requests and of the span; zones without one share what is left of the span.
fn zones(text: &str) -> Result<Zones, String> {
    let zone = |part: &str| {
        let (requests, span) = part.split_once('/').ok_or_else(|| format!("'{part}' is no zone, like 90/10"))?;
        let span = if span.trim().is_empty() { None } else { Some(value::real(span)? / 100.0) };
        Ok::<_, String>((value::real(requests)? / 100.0, span))
    };
    let told: Vec<(f64, Option<f64>)> = text.split(':').map(zone).collect::<Result<_, _>>()?;
    let open = told.iter().filter(|(_, span)| span.is_none()).count().max(1);
    let rest = (1.0 - told.iter().filter_map(|(_, span)| *span).sum::<f64>()) / open as f64;
    let shares: Vec<(f64, f64)> = told.iter().map(|(requests, span)| (*requests, span.unwrap_or(rest))).collect();
    Zones::new(&shares).ok_or_else(|| format!("at most {} zones, whose shares add up to 100 % each", Zones::MOST))
}
