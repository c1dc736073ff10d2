//! `lab limits`: how many cards this host holds at once, as the line of its own file that says so.

use crate::args::{Cli, Limits};
use crate::prepare::host_path;
use anyhow::{Context, Result, anyhow};
use flashscope_console as console;
use flashscope_lab::HostFile;
use flashscope_supervisor::limits::{self, LATE, MOST, READ, Step};
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Emulated cards of one run, which go with it.
struct Cards(PathBuf);

impl Drop for Cards {
    fn drop(&mut self) {
        let _ = flashscope_emulate::clean(&self.0.join("registry"));
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

pub(crate) fn run(args: &Limits, cli: &Cli) -> Result<u8> {
    let host = host_path(args.host.as_deref());
    let file = match (&host, args.write) {
        (None, true) => return Err(anyhow!("there is no place for the host's own file\nhint: name one with --host")),
        (Some(path), true) => Some((path, before(path)?)),
        (_, false) => None,
    };
    let cards = Cards(std::env::temp_dir().join(format!("flashscope-limits-{}", std::process::id())));
    let time = Duration::from_nanos(args.time.get());
    let (holds, steps) = limits::search(args.most.unwrap_or(MOST), |count| {
        if !cli.manner.quiet {
            console::say(&format!("{count} emulated cards, {} …", args.time));
        }
        limits::measure(&cards.0, count, time).map_err(|error| {
            anyhow!("{error}\nhint: emulated cards need root and /dev/fuse; at-once can be set by hand")
        })
    })?;
    // With none at all nothing would ever be done; what is measured on one is then the host's figure as well.
    let at_once = holds.max(1);
    if let Some((path, text)) = file {
        write(path, &HostFile::with_at_once(&text, at_once))?;
    }
    console::text(&if args.json { json(&steps, holds) } else { text(&steps, holds, args, host.as_deref()) })?;
    Ok(0)
}

/// What is in the host's own file.
fn before(path: &Path) -> Result<String> {
    let text = match std::fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
        Err(error) => return Err(error).with_context(|| format!("cannot read {}", path.display())),
    };
    // Half a minute later would be late for saying that it makes no sense.
    HostFile::read(&text).map_err(|error| anyhow!("{}: {error}", path.display()))?;
    Ok(text)
}

/// Replaces a file whole; who may read it stays as it is.
fn write(path: &Path, text: &str) -> Result<()> {
    let written = || {
        std::fs::create_dir_all(path.parent().unwrap_or(Path::new("")))?;
        let new = path.with_extension("toml.new");
        std::fs::write(&new, text)?;
        if let Ok(before) = std::fs::metadata(path) {
            std::fs::set_permissions(&new, before.permissions())?;
        }
        std::fs::rename(&new, path)
    };
    written().with_context(|| format!("cannot write {}", path.display()))
}

fn text(steps: &[Step], holds: u32, args: &Limits, host: Option<&Path>) -> String {
    let most = args.most.unwrap_or(MOST);
    let mut text = match holds {
        0 => format!(
            "This host does not hold even one emulated card of {READ}: answers go out more than {LATE} late (p99).\n"
        ),
        holds if holds == most => {
            format!("This host holds {holds} cards of {READ} at once, and more were not tried.\n")
        }
        holds => format!(
            "This host holds {holds} cards of {READ} at once; of more, answers go out over {LATE} (5 %) late at p99.\n"
        ),
    };
    let shown = host.map_or_else(|| "the host's own file".to_owned(), |path| path.display().to_string());
    let said = if args.write { "is in" } else { "goes into" };
    let _ =
        writeln!(text, "\nat-once = {}    {said} {shown}\n\ncards  lateness p50  p99      p99 of {READ}", holds.max(1));
    for Step { cards, p50, p99 } in steps {
        let share = p99.as_f64() / READ.as_f64() * 100.0;
        let _ = writeln!(text, "{cards:>5}  {:<12}  {:<7}  {share:.1} %", p50.to_string(), p99.to_string());
    }
    text
}

fn json(steps: &[Step], holds: u32) -> String {
    let steps: Vec<_> = steps
        .iter()
        .map(|step| {
            serde_json::json!({"cards": step.cards, "lateness_ns_p50": step.p50.get(), "lateness_ns_p99": step.p99.get()})
        })
        .collect();
    let all = serde_json::json!({
        "read_ns": READ.get(), "late_ns": LATE.get(), "holds": holds, "at_once": holds.max(1), "steps": steps
    });
    format!("{all:#}\n")
}
