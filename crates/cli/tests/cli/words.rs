//! The field's words: phrases that it has a better one for appear in no output, no help text and no page of the manual.
//! The rule behind it is that of [`PHRASES`]: whole phrases are banned, never a single word.

use crate::harness::{fixture, flashscope, scratch};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Not this, but that, and why. `#` stands for any one word, and a phrase never goes on across a full stop.
const PHRASES: &[(&[&str], &str, &str)] = &[
    (
        &["read in order", "reads in order", "write in order", "writes in order", "written in order", "rate in order"],
        "sequential",
        "every tool of the field calls this order sequential",
    ),
    (
        &["requests in order", "blocks in order", "open in order", "in order and at random", "in order or at random"],
        "sequential",
        "every tool of the field calls this order sequential",
    ),
    (
        &["read at random", "reads at random", "write at random", "writes at random", "written at random"],
        "random",
        "a random read is a term, a read at random a description of it",
    ),
    (
        &["requests at random", "rate at random", "open at random", "overwritten at random", "order and at random"],
        "random",
        "a random read is a term, a read at random a description of it",
    ),
    (&["# × # outstanding", "longest time of"], "1 job, QD1; latency (service time)", "queue depth is the term"),
    (
        &["take another way", "takes another way", "take a way of their own", "taking another way"],
        "take a separate path",
        "way is not said of a path through a controller",
    ),
    (
        &["this result is the device's", "the device had moved # % of"],
        "not cached: the device served 100 %",
        "the answer first, and its figure behind it",
    ),
    (
        &["whose results these are", "whose figure", "whose result it is", "whose result each is"],
        "device or cache?",
        "the question that is answered, in its own nouns",
    ),
    (&["that are none of", "that is none of"], "that cross one boundary, not the other", "none of what?"),
    (&["before it in the same", "than one more in the same:"], "after a change of allocation unit", "the same what?"),
    (&["page inside", "pages inside it"], "inner page", "the glossary's term"),
    (&["physical over user"], "over-provisioning", "the glossary's term"),
    (&["map in memory"], "mapping-table reach (L2P cache)", "the glossary's term"),
    (&["units in order"], "block-mapped, sequential writes only", "the class of controllers"),
    (&["units of # # show"], "(leave it out)", "a fragment: show what?"),
    (&["none up to"], "none seen in the first # written", "says what was looked through"),
    (&["only writes tell", "only writing tells"], "unknown: needs write tests", "says what to do"),
    (&["behind more of them"], "a larger cache needs a larger --max-write", "more of what?"),
    (&["right to ±#", "right to ± #"], "± 25 %", "the sign says it"),
    (&["over within"], "latency at percentile", "the name of this plot everywhere else"),
    (
        &["up to where ten requests", "what is above is chance", "beyond it is chance"],
        "the tail is cut where fewer than 10 samples remain",
        "says what is done to the plot",
    ),
    (&["longest stall"], "longest gap between completions", "a stall is of one request or of a device: which?"),
    (&["surer than a toss", "a toss of a coin"], "more than 60 % sure", "a number, not a picture"),
    (&["hand over so many", "hands over so many", "so many requests at once"], "submit in batches of N", "the term"),
    (&["so many requests", "so many bytes", "so many units", "so many places"], "the number", "how many?"),
];

/// Words behind which a phrase of chance is about places, not about an order: "read at random multiples".
const PLACES: [&str; 5] = ["multiples", "places", "positions", "offsets", "addresses"];

/// Pages that programs write from results: their lines are as long as a table's row.
const GENERATED: [&str; 3] = ["twins.md", "twins-fitted.md", "fleet-results.md"];

/// The marks around the README's sample of what `inspect` prints.
const SAMPLE: (&str, &str) = ("<!-- sample:begin -->", "<!-- sample:end -->");

/// Widest line of a page, in characters.
const WIDEST: usize = 120;

/// Longest paragraph of a page, in lines.
const LONGEST: usize = 8;

/// What is wrong with a text: each phrase with its surroundings and the better one.
fn complaints(text: &str) -> Vec<String> {
    let spoken: Vec<&str> = text.split_whitespace().collect();
    let bare = |word: &str| word.trim_matches(|c: char| "().,;:!?*`\"'“”|".contains(c)).to_lowercase();
    let words: Vec<String> = spoken.iter().map(|word| bare(word)).collect();
    let mut found = Vec::new();
    for (phrases, better, why) in PHRASES {
        for phrase in *phrases {
            let wanted: Vec<String> = phrase.split(' ').map(bare).collect();
            for at in 0..words.len().saturating_sub(wanted.len() - 1) {
                let end = at + wanted.len();
                let same = wanted.iter().zip(&words[at..end]).all(|(wanted, word)| matches(wanted, word));
                let stops = spoken[at..end - 1].iter().any(|word| word.ends_with(['.', '|']));
                let next = words.get(end).map_or("", String::as_str);
                let other = PLACES.contains(&next) || (phrase.ends_with("in order") && ["to", "of"].contains(&next));
                if same && !stops && !other {
                    let around = spoken[at.saturating_sub(4)..(end + 4).min(spoken.len())].join(" ");
                    found.push(format!("“{around}”: not '{phrase}' but: {better} ({why})"));
                }
            }
        }
    }
    found
}

/// Whether a word is the wanted one; `#` is any word, and any ending of one.
fn matches(wanted: &str, word: &str) -> bool {
    match wanted.split_once('#') {
        Some((start, _)) => word.starts_with(start),
        None => wanted == word,
    }
}

/// What a page says, without its marks, its style and its scripts.
fn words_of_page(html: &str) -> String {
    let mut text = String::new();
    let mut rest = html;
    while let Some(at) = rest.find('<') {
        text.push_str(&rest[..at]);
        text.push_str(" | ");
        let tag = &rest[at..];
        let hidden = ["script", "style"].iter().find(|name| tag[1..].starts_with(**name));
        let end = match hidden {
            Some(name) => tag.find(&format!("</{name}>")).unwrap_or(tag.len()),
            None => tag.find('>').map_or(tag.len(), |end| end + 1),
        };
        // The end tag of what is hidden is the next tag.
        rest = &tag[end.max(1)..];
    }
    text + rest
}

/// Prints what a command says on both streams.
fn said(folder: &Path, arguments: &[&str]) -> String {
    let run = flashscope(arguments).current_dir(folder).run();
    assert!(matches!(run.code, Some(0 | 1)), "{arguments:?}: {}", run.stderr);
    format!("{}\n.\n{}", run.stdout, run.stderr)
}

/// Fails with all complaints at once, each with the first place where it was found.
fn expect_good(texts: impl IntoIterator<Item = (String, String)>) {
    let mut all = BTreeMap::new();
    for (place, text) in texts {
        for complaint in complaints(&text) {
            all.entry(complaint).or_insert_with(|| place.clone());
        }
    }
    let all: Vec<String> = all.iter().map(|(complaint, place)| format!("{place}: {complaint}")).collect();
    assert!(all.is_empty(), "{} phrases:\n{}", all.len(), all.join("\n"));
}

#[test]
fn phrases_are_found_where_they_are_and_nowhere_else() {
    let check = |text: &str, expected: usize| assert_eq!(complaints(text).len(), expected, "{text}");
    check("8.78 MB/s for writes in order, 74.8 KB/s else", 1);
    check("what was written in\n   order", 1);
    check("Read in order to decide. Reads at random multiples. It is read. At random, it waits", 0);
    check("right to ±25 %", 1);
    check("units of 4 MiB show", 1);
    check("1 × 32 outstanding", 1);
    check("the units that show nothing of so many", 0);
    check(&words_of_page("<p>read</p><p>in order</p><style>map in memory</style>"), 0);
    check(&words_of_page("<p title='x'>none up to 4 MiB</p>"), 1);
}

#[test]
fn every_help_text_keeps_to_the_words() {
    let folder = scratch();
    let mut open = vec![Vec::<String>::new()];
    let mut texts = Vec::new();
    while let Some(path) = open.pop() {
        let mut arguments: Vec<&str> = path.iter().map(String::as_str).collect();
        arguments.push("--help");
        let help = said(&folder, &arguments);
        let listed = help.split("Commands:\n").nth(1).unwrap_or_default();
        let names = listed.lines().take_while(|line| line.starts_with("  ")).filter(|line| !line.starts_with("   "));
        for name in names.filter_map(|line| line.split_whitespace().next()).filter(|name| *name != "help") {
            open.push(path.iter().cloned().chain([name.to_owned()]).collect());
        }
        texts.push((format!("flashscope {}", arguments.join(" ")), help));
    }
    assert!(texts.len() > 30, "the whole tree: {}", texts.len());
    expect_good(texts);
}

#[test]
fn every_catalogue_model_is_described_in_the_words() {
    let folder = scratch();
    let models = said(&folder, &["sim", "list"]);
    let models: Vec<&str> = models.lines().filter_map(|line| line.strip_prefix("sim:")?.split(' ').next()).collect();
    assert!(models.len() > 10, "{models:?}");
    let mut texts = Vec::new();
    for model in models {
        let record = format!("{model}.json");
        let run = flashscope(&["inspect", &format!("sim:{model}"), "--json"]).current_dir(&folder).run();
        std::fs::write(folder.join(&record), run.stdout).unwrap();
        texts.extend(every_form(&folder, &record));
        texts.push((format!("sim show {model}"), said(&folder, &["sim", "show", model])));
    }
    expect_good(texts);
}

/// A record in every form that people read.
fn every_form(folder: &Path, record: &str) -> Vec<(String, String)> {
    let form = |format: &str| {
        let text = said(folder, &["report", record, "--format", format]);
        let text = if format == "html" { words_of_page(&text) } else { text };
        (format!("{record} as {format}"), text)
    };
    ["text", "markdown", "html"].map(form).to_vec()
}

/// What these commands print, and where they make a record, that in every form.
fn expect_good_outputs(commands: &[(&str, &[&str])]) {
    let folder = scratch();
    let mut texts = Vec::new();
    for (name, arguments) in commands {
        texts.push(((*name).to_owned(), said(&folder, arguments)));
        if name.ends_with("text") {
            continue;
        }
        let json = flashscope(&[arguments, &["--json"][..]].concat()).current_dir(&folder).run();
        let record = format!("{name}.json");
        std::fs::write(folder.join(&record), json.stdout).unwrap();
        texts.extend(every_form(&folder, &record));
    }
    expect_good(texts);
}

#[test]
fn fleets_twins_probes_and_lists_keep_to_the_words() {
    let log = fixture("field/card-6-2.txt");
    expect_good_outputs(&[
        ("fleet", &["fleet", "-n", "2", "--max-write", "64MiB", "--no-naive"]),
        ("twin text", &["twin", "fit", &log, "-o", "card.toml"]),
        ("iozone text", &["bench", "iozone", "-s", "64", "-r", "16", "-i", "0", "-i", "1", "-i", "2"]),
        ("models text", &["sim", "list"]),
        ("presets text", &["bench", "--presets"]),
    ]);
    let probes = [
        "align",
        "write-align",
        "open-au",
        "fat",
        "scatter",
        "interval",
        "program",
        "floor",
        "survey",
        "slide",
        "discard",
    ];
    for probe in probes {
        expect_good_outputs(&[("probe text", &["probe", probe, "sim:sd-4mib"])]);
    }
}

#[test]
fn logs_loads_and_presets_keep_to_the_words() {
    let field = |name: &str| fixture(&format!("field/{name}.txt"));
    let (log, other) = (field("card-6-2"), field("card-29-1"));
    expect_good_outputs(&[
        ("dry text", &["inspect", "--dry-run"]),
        ("infer", &["infer", &log]),
        ("infer-2", &["infer", &other]),
        ("twin", &["twin", "fit", &log, "-o", "card.toml"]),
        ("discard", &["probe", "discard", "sim:sd-4mib"]),
        ("iozone", &["bench", "iozone", "-s", "64", "-r", "16", "-i", "0", "-i", "1", "-i", "2"]),
        (
            "bench",
            &["bench", "sim:ssd-consumer", "--rw", "randread", "--bs", "4k", "--iodepth", "32", "--runtime", "1s"],
        ),
        ("bench-write", &["bench", "sim:sd-4mib", "--rw", "randwrite", "--size", "64M", "--runtime", "2s"]),
        ("bench-verify", &["bench", "own.img", "--rw", "randrw", "--size", "4M", "--runtime", "1s", "--verify"]),
        ("preset", &["bench", "sim:sd-4mib", "--preset", "sd-class"]),
        ("preset-cdm", &["bench", "sim:ssd-consumer", "--preset", "crystaldiskmark"]),
    ]);
}

/// The pages of the manual, with the README and the two pages for developers.
fn pages() -> Vec<(PathBuf, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let folders = ["docs", "docs/probes", "docs/first-hour"].map(|folder| root.join(folder));
    let mut paths = ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md"].map(|name| root.join(name)).to_vec();
    for folder in folders {
        let entries = folder.read_dir().expect("the manual").map(|entry| entry.expect("an entry").path());
        paths.extend(entries.filter(|path| path.extension().is_some_and(|extension| extension == "md")));
    }
    assert!(paths.len() > 40, "{paths:?}");
    paths.into_iter().map(|path| (path.clone(), std::fs::read_to_string(path).expect("a page"))).collect()
}

#[test]
fn every_page_keeps_to_the_words() {
    // The README's sample is an output, and held against what is printed: not a text of the manual.
    let without_sample = |text: &str| match (text.split_once(SAMPLE.0), text.split_once(SAMPLE.1)) {
        (Some((before, _)), Some((_, after))) => format!("{before}{after}"),
        _ => text.to_owned(),
    };
    expect_good(pages().iter().map(|(path, text)| (path.display().to_string(), without_sample(text))));
}

/// Lines and paragraphs that are too long, as line numbers with what is wrong; tables and code are left out.
fn too_long(text: &str, lines: bool) -> Vec<String> {
    let (mut found, mut in_code, mut paragraph) = (Vec::new(), false, 0);
    for (at, line) in text.lines().enumerate() {
        let fence = line.trim_start().starts_with("```");
        in_code ^= fence;
        let apart = in_code || fence || line.starts_with(['|', '#', '<']) || line.trim().is_empty();
        let item = line.trim_start().trim_start_matches(|c: char| c.is_ascii_digit());
        let item = item.starts_with("- ") || item.starts_with("* ") || item.starts_with(". ");
        paragraph = if apart { 0 } else { 1 + if item { 0 } else { paragraph } };
        if paragraph == LONGEST + 1 {
            found.push(format!("{}: a paragraph of more than {LONGEST} lines", at + 1));
        }
        if lines && !apart && line.chars().count() > WIDEST {
            found.push(format!("{}: {} characters", at + 1, line.chars().count()));
        }
    }
    found
}

#[test]
fn pages_have_short_paragraphs_and_lines() {
    assert_eq!(too_long(&format!("{}\n\n{}", "a\n".repeat(LONGEST), "b".repeat(WIDEST)), true), [""; 0]);
    assert_eq!(too_long(&"a\n".repeat(LONGEST + 1), true).len(), 1);
    assert_eq!(too_long(&"b".repeat(WIDEST + 1), true).len(), 1);
    let mut all = Vec::new();
    for (path, text) in pages() {
        let generated = GENERATED.iter().any(|name| path.ends_with(name));
        all.extend(too_long(&text, !generated).into_iter().map(|wrong| format!("{}:{wrong}", path.display())));
    }
    assert!(all.is_empty(), "{}", all.join("\n"));
}
