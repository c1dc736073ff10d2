//! `man`: manual pages, and `completions`: what shells complete.

use crate::args::{Completions, ManPages, man_pages};
use crate::error::{Failure, Outcome};
use crate::{near, output, target};
use anyhow::anyhow;

/// `man`.
pub(crate) fn run(args: ManPages) -> Result<Outcome, Failure> {
    let pages = man_pages();
    let Some(folder) = &args.dir else {
        let page = pages.iter().find(|page| page.words == args.words);
        let page = page.ok_or_else(|| {
            let hint = near::hint(&args.words.join(" "), pages[1..].iter().map(|page| page.words.join(" ")));
            anyhow!("there is no command '{}'\n{hint}", args.words.join(" "))
        })?;
        output::data(&page.text)?;
        return Ok(Outcome::Done);
    };
    let mut door = output::door::<&str>(args.replace.force, []);
    let files = pages.iter().map(|page| output::plan(&mut door, &folder.join(page.file())));
    let files = files.collect::<Result<Vec<_>, _>>()?;
    for (file, page) in files.iter().zip(&pages) {
        file.write(page.text.as_bytes()).map_err(target::failure)?;
    }
    output::talk(&format!("{} pages in {}", pages.len(), folder.display()));
    Ok(Outcome::Done)
}

/// `completions`.
pub(crate) fn completions(args: &Completions) -> Result<Outcome, Failure> {
    output::data(&args.script())?;
    Ok(Outcome::Done)
}
