//! The pages hold together, as files and as a book: each has its place in `docs/SUMMARY.md`, and no link leads nowhere.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path, PathBuf};

/// Lines that a page for somebody's first hour may have.
const FIRST_HOUR: usize = 80;

#[test]
fn every_page_has_its_place_in_the_book() {
    let docs = root().join("docs");
    let summary = read(&docs.join("SUMMARY.md"));
    let listed: Vec<PathBuf> = links(&summary).iter().map(|link| plain(&docs.join(link))).collect();
    let there: BTreeSet<PathBuf> = pages(&docs).into_iter().filter(|page| !page.ends_with("SUMMARY.md")).collect();
    let named = listed.iter().cloned().collect::<BTreeSet<_>>();
    let differ: Vec<_> = named.symmetric_difference(&there).collect();
    assert!(differ.is_empty(), "only in docs/SUMMARY.md, or only in docs/: {differ:?}");
    assert_eq!(listed.len(), there.len(), "docs/SUMMARY.md names a page twice");
}

#[test]
fn no_link_leads_nowhere() {
    let mut all = pages(&root().join("docs"));
    all.extend(["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md"].map(|name| root().join(name)));
    let places: BTreeMap<&PathBuf, BTreeSet<String>> = all.iter().map(|page| (page, headings(&read(page)))).collect();
    let mut broken = Vec::new();
    for page in &all {
        let folder = page.parent().expect("a page lies in a folder");
        for link in links(&read(page)).iter().filter(|link| !link.contains("://")) {
            let (path, place) = link.split_once('#').unwrap_or((link, ""));
            let to = if path.is_empty() { page.clone() } else { plain(&folder.join(path)) };
            let known = places.get(&to);
            let leads = to.exists() && (place.is_empty() || known.is_none_or(|known| known.contains(place)));
            if !leads {
                broken.push(format!("{}: {link}", page.strip_prefix(root()).unwrap_or(page).display()));
            }
        }
    }
    assert!(broken.is_empty(), "links that lead nowhere:\n{}", broken.join("\n"));
}

#[test]
fn every_test_that_the_threat_model_names_exists() {
    let page = read(&root().join("docs/threat-model.md"));
    let rows = page.lines().filter(|line| line.starts_with("| ") && !line.contains("| shown by |"));
    let (mut sources, mut open) = (String::new(), vec![root().join("crates")]);
    while let Some(folder) = open.pop() {
        for path in std::fs::read_dir(&folder).expect("a folder").flatten().map(|entry| entry.path()) {
            if path.is_dir() {
                open.push(path);
            } else if path.extension().is_some_and(|ending| ending == "rs") {
                sources.push_str(&std::fs::read_to_string(&path).expect("a source file"));
            }
        }
    }
    let mut named = 0;
    for row in rows {
        let shown_by = row.trim_end_matches([' ', '|']).rsplit('|').next().unwrap_or_default();
        let tests: Vec<&str> = shown_by.split('`').skip(1).step_by(2).collect();
        assert!(!tests.is_empty(), "no test shows it: {row}");
        for test in tests {
            let exists = match test.strip_prefix("scripts/") {
                Some(_) => root().join(test).is_file(),
                None => {
                    sources.contains(&format!("#[test]\n    fn {test}()"))
                        || sources.contains(&format!("#[test]\nfn {test}()"))
                }
            };
            assert!(exists, "the threat model names {test}, which is no test");
            named += 1;
        }
    }
    assert!(named >= 20, "{named} tests are named");
}

#[test]
fn a_first_hour_is_no_longer_than_a_page() {
    let pages = pages(&root().join("docs/first-hour"));
    assert_eq!(pages.len(), 5, "one for each kind of user");
    for page in pages {
        let lines = read(&page).lines().count();
        assert!(lines <= FIRST_HOUR, "{}: {lines} lines, at most {FIRST_HOUR}", page.display());
    }
}

#[test]
fn links_and_headings_are_read_as_a_forge_reads_them() {
    assert_eq!(links("a [b](c.md) [d](e.md#f) `[g](h)`\n```\n[i](j)\n```\n[k\nl](m)"), ["c.md", "e.md#f", "m"]);
    let places = headings("# `bench`: load\n## A (b), c\n```\n# no\n```\n## A (b), c\n### Größe [x](y.md)");
    assert_eq!(places.iter().map(String::as_str).collect::<Vec<_>>(), ["a-b-c", "a-b-c-1", "bench-load", "größe-x"]);
}

fn root() -> PathBuf {
    plain(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../.."))
}

/// A path without `.` and `..`, whether there is such a file or not.
fn plain(path: &Path) -> PathBuf {
    path.components().fold(PathBuf::new(), |mut plain, part| {
        match part {
            Component::ParentDir => _ = plain.pop(),
            Component::CurDir => {}
            part => plain.push(part),
        }
        plain
    })
}

fn read(page: &Path) -> String {
    std::fs::read_to_string(page).unwrap_or_else(|error| panic!("{}: {error}", page.display()))
}

/// All pages in a folder and those below it.
fn pages(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut found = Vec::new();
    for path in entries.map(|entry| entry.expect("an entry").path()) {
        if path.is_dir() {
            found.extend(pages(&path));
        } else if path.extension().is_some_and(|ending| ending == "md") {
            found.push(path);
        }
    }
    found.sort();
    found
}

/// Lines that are neither code nor comments: what stands there is no link and no heading.
fn prose(text: &str) -> impl Iterator<Item = &str> {
    let mut inside = false;
    text.lines().filter(move |line| {
        let fence = line.trim_start().starts_with("```");
        inside ^= fence;
        !inside && !fence
    })
}

/// Where the links of a page lead.
fn links(text: &str) -> Vec<String> {
    let text = prose(text).collect::<Vec<_>>().join("\n");
    // Every other part between backticks is code.
    let text: String = text.split('`').step_by(2).collect();
    let ends = text.split("](").skip(1).filter_map(|rest| rest.split_once(')'));
    ends.map(|(link, _)| link.to_owned()).collect()
}

/// The names by which the headings of a page are linked to.
fn headings(text: &str) -> BTreeSet<String> {
    let mut seen: BTreeMap<String, u32> = BTreeMap::new();
    let mut names = BTreeSet::new();
    for line in prose(text) {
        let heading = line.trim_start_matches('#');
        if heading.len() == line.len() || !heading.starts_with(' ') {
            continue;
        }
        let name = slug(heading.trim());
        let count = seen.entry(name.clone()).or_default();
        names.insert(if *count == 0 { name } else { format!("{name}-{count}") });
        *count += 1;
    }
    names
}

/// The words of a heading in small letters, with strokes between them; of a link its words.
fn slug(heading: &str) -> String {
    let words: String = heading
        .split("](")
        .enumerate()
        .map(|(n, part)| match n {
            0 => part,
            _ => part.split_once(')').map_or(part, |(_, rest)| rest),
        })
        .collect();
    let kept = words.chars().filter(|letter| letter.is_alphanumeric() || matches!(letter, ' ' | '-' | '_'));
    kept.map(|letter| if letter == ' ' { '-' } else { letter }).collect::<String>().to_lowercase()
}
