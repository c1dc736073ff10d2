//! `history compare`: records that are kept against each other. The comparison is the main program's, which is handed them as
//! files of a folder that only their owner reads, and that goes with them.

use super::main_program;
use crate::args::Compare;
use anyhow::{Context, Result, anyhow};
use flashscope_store::{Access, Store};
use std::ffi::OsString;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

pub(crate) fn run(file: &Path, compare: &Compare) -> Result<ExitCode> {
    let is_side = |word: &&OsString| !word.to_string_lossy().starts_with('-');
    let sides: Vec<&OsString> = compare.words.iter().take_while(is_side).collect();
    let options = &compare.words[sides.len()..];
    if sides.len() < 2 {
        return Err(anyhow!(
            "a comparison needs two records\nhint: `flashscope history compare 12 15`, or A=12 A=13 B=15"
        ));
    }
    let store = Store::open(file, Access::Read)?;
    let folder = Folder::new()?;
    let mut command = main_program()?;
    command.arg("compare");
    for side in sides {
        let side = side.to_string_lossy();
        let (label, id) = side.split_once('=').map_or((side.as_ref(), side.as_ref()), |(label, id)| (label, id));
        let id: i64 = id
            .parse()
            .map_err(|_| anyhow!("'{id}' is no number of a record\nhint: `flashscope history list` shows them"))?;
        let path = folder.0.join(format!("{id}.json"));
        std::fs::write(&path, store.record(id)?).with_context(|| format!("cannot write {}", path.display()))?;
        command.arg(format!("{label}={}", path.display()));
    }
    let code = command.args(options).status()?.code().and_then(|code| u8::try_from(code).ok());
    Ok(ExitCode::from(code.unwrap_or(2)))
}

/// A folder of one's own among temporary files.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Result<Folder> {
        let path = std::env::temp_dir().join(format!("flashscope-history-{}", std::process::id()));
        // Made by nobody else before: what is there already is not used.
        let made = std::fs::DirBuilder::new().mode(0o700).create(&path);
        made.with_context(|| format!("cannot make {}", path.display()))?;
        Ok(Folder(path))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
