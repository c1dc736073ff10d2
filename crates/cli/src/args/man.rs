//! What `man` takes, and the manual pages that are made from the help texts.

use super::{Replace, tree};
use clap::Args;
use clap_mangen::Man;
use clap_mangen::roff::{Roff, bold, roman};
use std::io::{Error, Write};
use std::path::PathBuf;

#[derive(Args, Debug)]
#[command(after_help = "Examples:
  flashscope man | man -l -
  flashscope man probe align > flashscope-probe-align.1
  flashscope man --dir ~/.local/share/man/man1")]
pub(crate) struct ManPages {
    /// The command that the page is about [default: flashscope itself]
    #[arg(value_name = "COMMAND", conflicts_with = "dir")]
    pub(crate) words: Vec<String>,
    /// Write the pages of all commands into this directory, which has to be there
    #[arg(long, value_name = "DIR")]
    pub(crate) dir: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) replace: Replace,
}

/// One manual page.
pub(crate) struct Page {
    /// The words after `flashscope` that the page is about.
    pub(crate) words: Vec<String>,
    /// Its text, for `man`.
    pub(crate) text: String,
}

impl Page {
    /// The name of its file.
    pub(crate) fn file(&self) -> String {
        let words = self.words.iter().map(|word| format!("-{word}"));
        format!("flashscope{}.1", words.collect::<String>())
    }
}

/// The pages of all commands, the program's own first.
pub(crate) fn man_pages() -> Vec<Page> {
    fn collect(command: &clap::Command, words: &[String], pages: &mut Vec<Page>) {
        let mut text = Vec::new();
        // Nothing fails that is written into memory.
        if render(command, &mut text).is_ok() {
            pages.push(Page { words: words.to_vec(), text: ascii(&String::from_utf8_lossy(&text)) });
        }
        for inner in command.get_subcommands() {
            collect(inner, &[words, &[inner.get_name().to_owned()]].concat(), pages);
        }
    }
    let mut pages = Vec::new();
    let mut tree = tree().disable_help_subcommand(true);
    tree.build();
    collect(&tree, &[], &mut pages);
    pages
}

/// One page, with the sections that manual pages have.
fn render(command: &clap::Command, page: &mut Vec<u8>) -> Result<(), Error> {
    let said = command.get_after_help().map(ToString::to_string).unwrap_or_default();
    let man = Man::new(command.clone()).source(concat!("flashscope ", env!("CARGO_PKG_VERSION")));
    write!(page, "{}", flashscope_report::man_mark())?;
    man.render_title(page)?;
    man.render_name_section(page)?;
    man.render_synopsis_section(page)?;
    man.render_description_section(page)?;
    man.render_options_section(page)?;
    if command.has_subcommands() {
        man.render_subcommands_section(page)?;
    }
    after(&said).to_writer(page)
}

/// Characters by their numbers, since groff takes files for Latin-1 unless it is told otherwise.
fn ascii(text: &str) -> String {
    let mut page = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter.is_ascii() {
            true => page.push(letter),
            false => page.push_str(&format!("\\[u{:04X}]", u32::from(letter))),
        }
    }
    page
}

/// What follows the options of a help text: examples, what is to be known beside them, exit codes.
fn after(said: &str) -> Roff {
    let mut roff = Roff::new();
    for part in said.split("\n\n") {
        if let Some(examples) = part.strip_prefix("Examples:\n").or(part.strip_prefix("Example: ")) {
            roff.control("SH", ["EXAMPLES"]).control("nf", []);
            examples.lines().for_each(|line| _ = roff.text([roman(line.trim_start())]));
            roff.control("fi", []);
        } else if let Some(codes) = part.strip_prefix("Exit codes: ") {
            roff.control("SH", ["EXIT STATUS"]);
            for (code, meaning) in codes.split(", ").filter_map(|code| code.split_once(' ')) {
                roff.control("TP", []).text([bold(code)]).text([roman(meaning)]);
            }
        } else {
            roff.control("SH", ["NOTES"]);
            part.lines().for_each(|line| _ = roff.text([roman(line)]));
        }
    }
    roff
}
