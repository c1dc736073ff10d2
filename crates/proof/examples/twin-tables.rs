//! Writes docs/twins.md: every figure of the published logs beside that of the twin.
//!
//! `cargo run --release -p flashscope-proof --example twin-tables`, from anywhere in the repository. With a model
//! and a log (`… -- sd-4mib`) it prints that twin's clauses instead.

use flashscope_model::Data;
use flashscope_proof::twins::{self, Replay, Twin, clauses, page};
use std::path::{Path, PathBuf};

fn main() -> std::io::Result<()> {
    let root: PathBuf = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let wanted = std::env::args().nth(1);
    let mut text = page::head();
    for twin in [&twins::SD_4MIB, &twins::EMMC_WRITE_ALIGN] {
        if wanted.as_ref().is_some_and(|spec| !spec.starts_with(twin.model)) {
            continue;
        }
        text.push_str(&of(twin, &root, wanted.as_deref().unwrap_or(twin.model))?);
    }
    match wanted {
        Some(_) => std::io::Write::write_all(&mut std::io::stdout(), text.as_bytes()),
        None => std::fs::write(root.join("docs/twins.md"), text),
    }
}

fn of(twin: &Twin, root: &Path, spec: &str) -> std::io::Result<String> {
    let replay = twins::replay(&std::fs::read_to_string(root.join(twin.path))?);
    let mut text = page::of(twin, &clauses::judge(twin, &replay, spec));
    if replay.measured.iter().any(|run| matches!(run.data, Data::OpenUnits(_))) {
        let own = Replay { original_order: false, ..replay };
        text.push_str(&page::with_own_order(&clauses::judge(twin, &own, spec)));
    }
    Ok(text)
}
