//! What is seen while a lab is at work: on a terminal a line for each device, otherwise a line for each run that ends.

use flashscope_console as console;
use flashscope_lab::{Device, Entry, RunState};
use flashscope_report::foreign;
use flashscope_supervisor::time_of;
use flashscope_units::ByteRate;
use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::collections::BTreeMap;
use std::io::IsTerminal;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// Lines are drawn anew no more often than this.
const EVERY: Duration = Duration::from_millis(500);

/// Draws what is under way.
#[derive(Debug)]
pub(crate) struct Screen {
    lines: Option<Lines>,
    quiet: bool,
    busy: usize,
}

#[derive(Debug)]
struct Lines {
    all: MultiProgress,
    devices: Vec<ProgressBar>,
    total: ProgressBar,
    drawn: Option<Instant>,
    moved: Vec<Option<(Instant, u64)>>,
}

/// A run that is under way, as far as it is seen.
#[derive(Clone, Debug)]
pub(crate) struct UnderWay {
    /// Place of its entry.
    pub(crate) place: usize,
    /// When it began.
    pub(crate) began: Instant,
    /// The nodes of its devices by their places; of simulated ones there are none.
    pub(crate) nodes: BTreeMap<usize, PathBuf>,
}

impl Screen {
    /// For these devices; `busy` simulated ones are under way at once.
    pub(crate) fn new(devices: &[Device], quiet: bool, busy: usize) -> Screen {
        let draws = !quiet && std::io::stderr().is_terminal();
        Screen { lines: draws.then(|| Lines::new(devices)), quiet, busy }
    }

    /// Something worth a line that stays.
    pub(crate) fn say(&self, text: &str) {
        match (&self.lines, self.quiet) {
            (_, true) => {}
            (Some(lines), _) => {
                let _ = lines.all.println(foreign::page(text));
            }
            (None, _) => console::say(text),
        }
    }

    /// A run has ended.
    pub(crate) fn ended(&self, entry: &Entry, entries: &[Entry]) {
        let over = entries.iter().filter(|entry| entry.state.is_over()).count();
        let took = time_of(entry).map_or_else(String::new, |time| format!(" in {time}"));
        let (device, work, all) = (&entry.device, &entry.work, entries.len());
        match (entry.state, &entry.why) {
            (RunState::Done, _) if self.lines.is_some() => {}
            (RunState::Done, _) => self.say(&format!("{device}: {work} done{took} ({over} of {all})")),
            (RunState::Failed, Some(why)) => self.say(&format!("{device}: {work} failed: {}", foreign::line(why))),
            (_, Some(why)) => self.say(&format!("{device}: {work} is to be done again: {}", foreign::line(why))),
            _ => {}
        }
    }

    /// Draws all lines, where it is time to.
    pub(crate) fn draw(&mut self, entries: &[Entry], under_way: &[UnderWay]) {
        let busy = self.busy;
        let Some(lines) = &mut self.lines else { return };
        if lines.drawn.is_some_and(|drawn| drawn.elapsed() < EVERY) {
            return;
        }
        lines.drawn = Some(Instant::now());
        let usual = usual_times(entries);
        let mut left_in_all = 0.0f64;
        let mut longest = 0.0f64;
        for device in 0..lines.devices.len() {
            let is_its = |entry: &Entry| entry.run.devices().any(|other| other == device);
            let of_device: Vec<&Entry> = entries.iter().filter(|entry| is_its(entry)).collect();
            let now = under_way.iter().find(|one| is_its(&entries[one.place]));
            let left = left_of(&of_device, now, &usual);
            // What holds several devices against each other is counted with the first one.
            let counted: Vec<&Entry> = of_device.iter().filter(|one| one.run.device == device).copied().collect();
            let own = now.filter(|now| entries[now.place].run.device == device);
            if let (Some(left), Some(counted)) = (left, left_of(&counted, own, &usual)) {
                left_in_all += counted.as_secs_f64();
                longest = longest.max(left.as_secs_f64());
            }
            let rate = now.and_then(|now| lines.rate(device, now));
            let text = line(&of_device, now.map(|now| (&entries[now.place], now.began)), rate, left);
            lines.devices[device].set_message(text);
        }
        let over = entries.iter().filter(|entry| entry.state.is_over()).count();
        let left = Duration::from_secs_f64((left_in_all / busy.max(1) as f64).max(longest));
        let left = if left.is_zero() { String::new() } else { format!(", about {} left", seconds(left)) };
        lines.total.set_message(format!("{over} of {} runs are over{left}", entries.len()));
    }

    /// Leaves no line behind.
    pub(crate) fn finish(&mut self) {
        if let Some(lines) = self.lines.take() {
            lines.devices.iter().chain([&lines.total]).for_each(ProgressBar::finish_and_clear);
        }
    }
}

impl Lines {
    fn new(devices: &[Device]) -> Lines {
        let all = MultiProgress::with_draw_target(ProgressDrawTarget::stderr_with_hz(4));
        let style = |template| ProgressStyle::with_template(template).expect("the template is a constant");
        let bar = |name: &str| {
            let bar = all.add(ProgressBar::new(1));
            bar.set_style(style("{prefix:12} {wide_msg}"));
            bar.set_prefix(name.to_owned());
            bar
        };
        let bars = devices.iter().map(|device| bar(&device.name)).collect();
        let total = all.add(ProgressBar::new(1));
        total.set_style(style("{wide_msg}"));
        Lines { all, devices: bars, total, drawn: None, moved: vec![None; devices.len()] }
    }

    /// What the device moves now, by the kernel's own count.
    fn rate(&mut self, device: usize, now: &UnderWay) -> Option<ByteRate> {
        let moved = moved(now.nodes.get(&device)?)?;
        let before = self.moved[device].replace((Instant::now(), moved));
        let (at, before) = before?;
        let time = at.elapsed().as_secs_f64();
        (time > 0.0 && moved >= before).then(|| ByteRate((moved - before) as f64 / time))
    }
}

/// Bytes that a disk has read and written since it is attached: `/sys/block/NAME/stat`, fields 3 and 7, in sectors of 512 bytes
/// (kernel: `Documentation/block/stat.rst`).
fn moved(node: &std::path::Path) -> Option<u64> {
    let name = node.file_name()?;
    let stat = std::fs::read_to_string(PathBuf::from("/sys/block").join(name).join("stat")).ok()?;
    let fields: Vec<u64> = stat.split_whitespace().filter_map(|field| field.parse().ok()).collect();
    Some((fields.get(2)? + fields.get(6)?) * 512)
}

/// One device in a line: what is done on it, how fast, what failed, how long it will take.
fn line(entries: &[&Entry], now: Option<(&Entry, Instant)>, rate: Option<ByteRate>, left: Option<Duration>) -> String {
    let count = |state| entries.iter().filter(|entry| entry.state == state).count();
    let (done, failures) = (count(RunState::Done), entries.iter().map(|entry| entry.failures).sum::<u32>());
    let what = match now {
        Some((entry, began)) => format!("{} ({}), {}", entry.work, entry.run.phase.word(), seconds(began.elapsed())),
        None if entries.iter().all(|entry| entry.state.is_over()) => "over".to_owned(),
        None => "waits".to_owned(),
    };
    let mut text = format!("{what:32} {done}/{} done", entries.len());
    if let Some(rate) = rate {
        text.push_str(&format!("  {rate}"));
    }
    match failures {
        0 => {}
        1 => text.push_str("  1 error"),
        several => text.push_str(&format!("  {several} errors")),
    }
    if let Some(left) = left.filter(|left| !left.is_zero()) {
        text.push_str(&format!("  about {} left", seconds(left)));
    }
    text
}

fn seconds(time: Duration) -> String {
    match time.as_secs() {
        seconds @ 0..=99 => format!("{seconds} s"),
        seconds @ 100..=5999 => format!("{} min", seconds / 60),
        seconds => format!("{} h", seconds / 3600),
    }
}

/// The middle one of the times that each work took so far, in seconds.
fn usual_times(entries: &[Entry]) -> BTreeMap<&str, f64> {
    let mut times: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    for entry in entries.iter().filter(|entry| entry.state == RunState::Done) {
        if let Some(time) = time_of(entry) {
            times.entry(&entry.work).or_default().push(time.as_f64() / 1e9);
        }
    }
    let median = |times: Vec<f64>| flashscope_stats::location::median(&times);
    times.into_iter().filter_map(|(work, times)| Some((work, median(times)?))).collect()
}

/// What is left to do on a device, where every work of it was done somewhere already.
fn left_of(entries: &[&Entry], now: Option<&UnderWay>, usual: &BTreeMap<&str, f64>) -> Option<Duration> {
    let to_do = entries.iter().filter(|entry| !entry.state.is_over());
    let all: f64 = to_do.map(|entry| usual.get(entry.work.as_str()).copied()).sum::<Option<f64>>()?;
    let spent = now.map_or(0.0, |now| now.began.elapsed().as_secs_f64());
    Some(Duration::from_secs_f64((all - spent).max(0.0)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use flashscope_lab::{Phase, Run};

    fn entry(work: &str, state: RunState, seconds: Option<u64>) -> Entry {
        let run = Run {
            id: String::new(),
            device: 0,
            others: Vec::new(),
            work: 0,
            words: Vec::new(),
            power: None,
            phase: Phase::Timed,
        };
        let (began, ended) = (seconds.map(|_| 1000), seconds.map(|seconds| 1000 + seconds * 1000));
        Entry {
            run,
            device: "a".to_owned(),
            identity: "a".to_owned(),
            work: work.to_owned(),
            state,
            failures: 1,
            attempts: 1,
            sha256: None,
            began,
            ended,
            why: None,
        }
    }

    #[test]
    fn a_line_says_what_is_done_how_fast_what_failed_and_how_long_it_takes() {
        let entries = [
            entry("look", RunState::Done, Some(10)),
            entry("look", RunState::Done, Some(30)),
            entry("look", RunState::Waiting, None),
            entry("speed", RunState::Done, Some(5)),
        ];
        let usual = usual_times(&entries);
        let of: Vec<&Entry> = entries.iter().collect();
        let left = left_of(&of, None, &usual);
        assert_eq!(left, Some(Duration::from_secs(20)));
        let text = line(&of, None, Some(ByteRate(20e6)), left);
        assert!(text.starts_with("waits") && text.contains("3/4 done"), "{text}");
        assert!(text.contains("20.0 MB/s") && text.contains("4 errors") && text.ends_with("about 20 s left"), "{text}");
        assert_eq!(left_of(&[&entry("other", RunState::Waiting, None)], None, &usual), None, "nobody did that yet");
    }
}
