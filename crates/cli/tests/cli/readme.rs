//! What the README shows is what the tool prints. `FLASHSCOPE_UPDATE=1 cargo test -p flashscope-cli readme` writes it anew.

use crate::harness::flashscope;
use std::path::Path;

const BEGIN: &str = "<!-- sample:begin -->\n";
const END: &str = "<!-- sample:end -->";

#[test]
fn the_readme_shows_what_inspect_prints() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../README.md");
    let readme = std::fs::read_to_string(&path).expect("README.md");
    let run = flashscope(&["inspect", "--no-files"]).env("COLUMNS", "110").run();
    run.expect(0);
    let begin = readme.find(BEGIN).expect("the sample begins") + BEGIN.len();
    let end = readme.find(END).expect("the sample ends");
    let sample = format!("```text\n{}```\n", run.stdout);
    if std::env::var_os("FLASHSCOPE_UPDATE").is_some() {
        let updated = format!("{}{sample}{}", &readme[..begin], &readme[end..]);
        std::fs::write(&path, updated).expect("README.md can be written");
        return;
    }
    assert_eq!(&readme[begin..end], sample, "run with FLASHSCOPE_UPDATE=1 and look at the difference");
}
