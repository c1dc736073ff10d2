//! A whole page around its body: self-contained, forbidden to load anything, with a list of its contents.

use crate::ours::GENERATOR;
use crate::plot;
use maud::{DOCTYPE, Markup, PreEscaped, html as markup};

/// Nothing may be loaded and no script may run but ours, whatever stands in the record. A script is named by its SHA-256
/// (Content Security Policy 3, section 2.3.1).
macro_rules! policy {
    ($hash:literal) => {
        concat!("default-src 'none'; style-src 'unsafe-inline'; img-src data:; script-src 'sha256-", $hash, "'")
    };
}

/// A script of a page, and the policy that lets it run. Where a script was changed, a browser refuses it and says which hash
/// it would take: `scripts/browser-test` prints that.
pub(crate) struct Script {
    text: &'static str,
    policy: &'static str,
}

/// Plots to be read off and zoomed into: uPlot under its licence, and what makes such plots of ours.
pub(crate) const PLOTS: Script = Script {
    text: concat!(
        "/*\n",
        include_str!("../../assets/uplot/LICENSE"),
        "*/\n",
        include_str!("../../assets/uplot/uPlot.iife.min.js"),
        include_str!("../../assets/plots.js")
    ),
    policy: policy!("SIOXze3+1XeugdAjTG73DqyUkS8fvV8q9G7172akiGE="),
};

/// A surface to be turned.
pub(crate) const SURFACES: Script = Script {
    text: include_str!("../../assets/surfaces.js"),
    policy: policy!("t3Wb3HOWjtX6kga8/h/ZFozOvMHJAtgrwakrSUIbq1M="),
};

/// A policy without any script.
const STILL: &str = "default-src 'none'; style-src 'unsafe-inline'; img-src data:";

/// The policy of a page of ours: what whoever sends it over a network has to allow for it, and nothing else. A text that is no
/// such page may do nothing.
pub fn policy(page: &str) -> &str {
    let after = page.split_once("http-equiv=\"Content-Security-Policy\" content=\"");
    after.and_then(|(_, rest)| rest.split_once('"')).map_or("default-src 'none'", |(policy, _)| policy)
}

/// What any page of ours may do, for whoever has to say so before the page is made.
pub fn any_policy() -> String {
    let scripts = [PLOTS.policy, SURFACES.policy].map(|policy| policy.rsplit_once(' ').map_or("", |(_, hash)| hash));
    format!("{STILL}; script-src {}", scripts.join(" "))
}

/// The style sheet of all pages.
pub fn style_sheet() -> String {
    format!("{}{}", include_str!("style.css"), plot::style_sheet())
}

/// A page; with the script of plots where there are some.
pub(crate) fn page(title: &str, body: &Markup) -> String {
    let plots = body.0.contains("<script type=\"application/json\">");
    styled_page(title, "", plots.then_some(PLOTS), body)
}

/// A page with rules for what only this page shows, and a script.
pub(crate) fn styled_page(title: &str, style: &str, script: Option<Script>, body: &Markup) -> String {
    let (body, contents) = with_anchors(&body.0);
    let policy = script.as_ref().map_or(STILL, |script| script.policy);
    let page = markup! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="generator" content=(GENERATOR);
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                meta http-equiv="Content-Security-Policy" content=(policy);
                link rel="icon" href="data:,";
                title { (title) " – flashscope" }
                style {
                    (PreEscaped(style_sheet())) (PreEscaped(style))
                }
            }
            body {
                div.page {
                    @match body.split_once("<main>") {
                        Some((before, after)) => {
                            (PreEscaped(before)) (nav(&contents)) (PreEscaped("<main>")) (PreEscaped(after))
                        }
                        None => (PreEscaped(&body)),
                    }
                }
                @if let Some(script) = script { script { (PreEscaped(script.text)) } }
            }
        }
    };
    page.into_string()
}

/// The list of contents; none where there is next to nothing to choose from.
fn nav(contents: &[(String, String)]) -> Markup {
    markup! {
        @if contents.len() > 2 {
            nav.contents aria-label="Contents" {
                @for (anchor, title) in contents { a href={ "#" (anchor) } { (PreEscaped(title)) } }
            }
        }
    }
}

/// Gives every heading of a section an anchor: the body with them, and the list of anchors and titles. Collected from what is
/// there, so that no section can be missing.
fn with_anchors(body: &str) -> (String, Vec<(String, String)>) {
    let mut contents: Vec<(String, String)> = Vec::new();
    let mut parts = body.split("<h2>");
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let title = part.split("</h2>").next().unwrap_or_default();
        let anchor = anchor(title, &contents);
        text.push_str(&format!("<h2 id=\"{anchor}\">{part}"));
        contents.push((anchor, title.to_owned()));
    }
    (text, contents)
}

/// Letters and digits of a title, with a number where another section has the same.
fn anchor(title: &str, taken: &[(String, String)]) -> String {
    let words = title.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    let name = words.map(str::to_lowercase).collect::<Vec<_>>().join("-");
    let name = if name.is_empty() { "section".to_owned() } else { name };
    let free = |name: &String| taken.iter().all(|(other, _)| other != name);
    std::iter::once(name.clone()).chain((2..).map(|number| format!("{name}-{number}"))).find(free).unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_section_is_in_the_list_of_contents() {
        let body =
            markup! { main { @for title in ["Open units", "A & B", "Open units"] { section { h2 { (title) } } } } };
        let page = page("t", &body);
        for link in ["href=\"#open-units\">Open units<", "href=\"#a-amp-b\">A &amp; B<", "href=\"#open-units-2\""] {
            assert!(page.contains(link), "{link}");
        }
        assert_eq!(page.matches("<h2 id=").count(), 3);
        assert!(!page.contains("<script"), "a page without plots has no script");
        assert_eq!(policy(&page), STILL);
        assert_eq!(policy("<p>another's"), "default-src 'none'");
        let any = any_policy();
        for script in [PLOTS, SURFACES] {
            let (own, hash) = script.policy.rsplit_once(' ').expect("a hash");
            assert!(any.starts_with(own) && any.contains(hash) && hash.starts_with("'sha256-"), "{any}");
        }
    }
}
