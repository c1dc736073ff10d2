//! The report on a terminal.

use crate::{foreign, small, table};
use flashscope_model::finding::{Advice, Note, Severity};
use flashscope_model::{Findings, Kind, Run, RunRecord};
use flashscope_view::advice::instruction;
use flashscope_view::answer::{self, Answer};
use flashscope_view::card::{Card, Tone, card, has_nothing};
use flashscope_view::conclusion;
use flashscope_view::made;
use flashscope_view::table::{Room, performance, remarks, tables};

/// How to print on a terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Style {
    /// Whether escape codes for colour and weight may be used.
    pub colour: bool,
    /// Columns of the terminal.
    pub width: usize,
    /// Whether all of the evidence is printed, rather than one clause for each answer.
    pub verbose: bool,
}

/// Columns of the names of findings.
const NAME: usize = 22;
/// Columns of their figures.
const FIGURE: usize = 16;
/// Columns of their confidences.
const CONFIDENCE: usize = 8;
/// Columns of the names of a card's lines.
const CARD_NAME: usize = 16;
/// Columns of the topics of advice.
const TOPIC: usize = 12;
/// What is left for words at the least, however narrow the terminal.
const WORDS_AT_LEAST: usize = 30;
/// From this width on, the performance table has all its columns.
const WIDE: usize = 106;
/// Longer lines are hard to read, however wide the terminal.
const WIDEST: usize = 110;
/// From this width on, it has its most telling columns.
const MEDIUM: usize = 80;

/// The whole report of a run.
pub fn terminal(run: &RunRecord, style: Style) -> String {
    let mut page = Page { text: String::new(), style: Style { width: style.width.min(WIDEST), ..style } };
    page.card(&card(run));
    page.facts(run);
    page.geometry(run);
    page.performance(run);
    page.advice(&run.findings.advice);
    page.notes(run);
    let lead = page.bold("Cost:");
    page.hanging(&format!("{lead} "), "Cost: ".len(), &answer::cost(run), Page::plain);
    page.text
}

/// The figures of one experiment as tables.
pub fn probe_table(run: &Run, style: Style) -> String {
    let mut page = Page { text: String::new(), style };
    for table in tables(&run.data) {
        let name = run.data.name().word();
        let lead = page.bold(name);
        page.hanging(&format!("{lead}  "), name.chars().count() + 2, &table.caption, Page::dim);
        for line in table::lines(&table, style.width) {
            page.line(&line);
        }
    }
    if page.text.is_empty() {
        page.line(&format!("{}  nothing was measured", page.bold(run.data.name().word())));
    }
    if !run.complete {
        page.line(&page.warn("  cut short: not all of it was measured"));
    }
    for failure in &run.failures {
        let what = format!("  failed: {} at {}: {}", failure.length, failure.offset, failure.reason);
        page.line(&page.warn(&what));
    }
    page.text
}

/// What one experiment says by itself: a small plot, and the conclusion in a sentence.
pub fn probe_conclusion(run: &Run, findings: &Findings, style: Style) -> String {
    let mut page = Page { text: String::new(), style };
    if let Some(plot) = conclusion::small(&run.data, small::columns(style.width)) {
        small::lines(&plot, style.width).iter().for_each(|line| page.line(line));
    }
    let sentence = format!("Conclusion: {}.", conclusion::conclusion(run, findings));
    wrap(&sentence, style.width).iter().for_each(|line| page.line(line));
    page.text
}

struct Page {
    text: String,
    style: Style,
}

impl Page {
    /// The first glance.
    fn card(&mut self, card: &Card) {
        for (at, line) in wrap(&card.title, self.style.width).iter().enumerate() {
            let indent = if at == 0 { "" } else { "  " };
            self.line(&format!("{indent}{}", self.bold(line)));
        }
        for row in &card.rows {
            let shade = match row.tone {
                Tone::Plain => Page::plain,
                Tone::Command => Page::bold,
                Tone::Warning => Page::warn,
                Tone::Open => Page::dim,
            };
            let lead = format!("  {:CARD_NAME$} ", row.name);
            self.hanging(&lead, lead.chars().count(), &row.text, shade);
        }
    }

    /// What else is known before anything was measured.
    fn facts(&mut self, run: &RunRecord) {
        if let Some(path) = answer::path(run) {
            self.wrapped("", &path, Page::dim);
        }
        let claims = answer::claims(run);
        if !claims.is_empty() {
            self.wrapped("claims: ", &claims.join(", "), Page::dim);
        }
        if let Some(why) = answer::cut_short(&run.envelope.stop) {
            self.wrapped("", &format!("cut short: {why}"), Page::warn);
        }
        self.made(run);
    }

    /// The state that the device was brought into, and how, where that was what was asked for.
    fn made(&mut self, run: &RunRecord) {
        let Some(state) = made::state(&run.envelope) else { return };
        let certificate = run.envelope.state.as_ref().and_then(|state| state.made.as_ref());
        let shade = if certificate.is_none_or(|made| made.reached) { Page::plain } else { Page::warn };
        self.wrapped("state: ", &state, shade);
        if run.envelope.kind == Kind::State || self.style.verbose {
            for line in certificate.iter().flat_map(|made| made::details(made)) {
                self.wrapped("  ", &line, Page::dim);
            }
        }
    }

    fn geometry(&mut self, run: &RunRecord) {
        if has_nothing(run) {
            return;
        }
        self.heading(answer::heading(run), "");
        let mut unasked: Vec<&str> = Vec::new();
        for answer in answer::of_run(run) {
            if answer.was_asked() || self.style.verbose {
                self.answer(&answer);
            } else {
                unasked.push(answer.finding.label());
            }
        }
        if !unasked.is_empty() {
            let lead = format!("  {:NAME$} ", "not measured");
            self.hanging(&lead, lead.chars().count(), &unasked.join("; "), Page::dim);
        }
    }

    fn answer(&mut self, answer: &Answer) {
        let why = if self.style.verbose { &answer.why } else { answer.clause() };
        let Some(figure) = &answer.figure else {
            let lead = format!("  {:NAME$} ", answer.name);
            let verdict = answer.verdict();
            let words = if why.is_empty() { verdict } else { format!("{verdict}: {why}") };
            return self.hanging(&lead, lead.chars().count(), &words, Page::dim);
        };
        let confidence = answer.confidence.map(answer::percent).unwrap_or_default();
        let wide = figure.chars().count().max(FIGURE);
        let indent = 2 + NAME + 1 + wide + 1 + CONFIDENCE + 3;
        let shade = match answer.confidence {
            Some(confidence) if confidence >= 0.95 => Page::good,
            Some(confidence) if confidence >= 0.8 => Page::plain,
            _ => Page::warn,
        };
        let lead = format!(
            "  {:NAME$} {} {}   ",
            answer.name,
            self.bold(&format!("{figure:>wide$}")),
            shade(self, &format!("{confidence:>CONFIDENCE$}")),
        );
        let words = match answer.others() {
            Some(others) if why.is_empty() => others,
            Some(others) => format!("{why}; {others}"),
            None => why.to_owned(),
        };
        self.hanging(&lead, indent, &words, Page::plain);
    }

    fn performance(&mut self, run: &RunRecord) {
        let cells = &run.findings.performance;
        if cells.is_empty() {
            return;
        }
        let room = match self.style.width {
            width if width >= WIDE => Room::Wide,
            width if width >= MEDIUM => Room::Medium,
            _ => Room::Narrow,
        };
        let table = performance(cells, room);
        self.heading("Performance", &format!("  ({})", table.caption));
        for line in table::lines(&table, self.style.width) {
            self.line(&line);
        }
        for change in remarks(cells) {
            self.wrapped("  ", &change, Page::dim);
        }
        if let Some(line) = &run.findings.transfer {
            let transfer = format!("long reads take {} and then {}", line.access, line.rate);
            self.wrapped("  ", &transfer, Page::dim);
        }
        if let Some(floor) = answer::floor(&run.observations.runs) {
            self.wrapped("  ", &format!("floor (one block again and again): {floor}"), Page::dim);
        }
    }

    fn advice(&mut self, advice: &[Advice]) {
        if advice.is_empty() {
            return;
        }
        self.heading("What to do with it", "");
        for item in advice {
            let parts = instruction(&item.text);
            let mut lead = format!("  {:TOPIC$} ", item.topic);
            let indent = lead.chars().count();
            if let Some(words) = parts.words {
                self.hanging(&lead, indent, words, Page::plain);
                lead = " ".repeat(indent);
            }
            // A command is copied: it is not broken.
            if let Some(command) = parts.command {
                self.line(&format!("{lead}{}", self.bold(command)));
                lead = " ".repeat(indent);
            }
            let because = if self.style.verbose { &item.because } else { answer::clause(&item.because) };
            self.hanging(&lead, indent, &format!("because {because}"), Page::dim);
        }
    }

    fn notes(&mut self, run: &RunRecord) {
        let warnings = answer::warnings(run);
        let notes = &run.findings.notes;
        if warnings.is_empty() && notes.is_empty() {
            return;
        }
        self.heading("Notes", "");
        for warning in warnings {
            self.wrapped("  warning: ", &warning, Page::warn);
        }
        for note in notes {
            self.note(note);
        }
    }

    fn note(&mut self, note: &Note) {
        match note.kind.severity() {
            Severity::Warning => self.wrapped("  warning: ", &note.text, Page::warn),
            Severity::Info => self.wrapped("  ", &note.text, Page::plain),
        }
        if let Some(hint) = &note.hint {
            self.wrapped("    hint: ", hint, Page::dim);
        }
    }

    fn heading(&mut self, title: &str, beside: &str) {
        self.line(&format!("{}{}", self.bold(title), self.dim(beside)));
    }

    /// Words behind a short plain lead, wrapped below it.
    fn wrapped(&mut self, lead: &str, words: &str, shade: fn(&Page, &str) -> String) {
        let painted = shade(self, lead);
        self.hanging(&painted, lead.chars().count(), words, shade);
    }

    /// A lead that takes up `indent` columns, and words wrapped behind it. Where the terminal leaves too little room
    /// there, the words go below.
    fn hanging(&mut self, lead: &str, indent: usize, words: &str, shade: fn(&Page, &str) -> String) {
        let room = self.style.width.saturating_sub(indent);
        let (first, indent, room) = if room >= WORDS_AT_LEAST {
            (lead.to_owned(), indent, room)
        } else {
            self.line(lead.trim_end());
            if words.is_empty() {
                return;
            }
            ("      ".to_owned(), 6, self.style.width.saturating_sub(6).max(WORDS_AT_LEAST))
        };
        for (at, line) in wrap(words, room).iter().enumerate() {
            let start = if at == 0 { first.clone() } else { " ".repeat(indent) };
            self.line(&format!("{start}{}", shade(self, line)));
        }
    }

    fn line(&mut self, line: &str) {
        self.text.push_str(&if self.style.colour {
            foreign::painted(line.trim_end())
        } else {
            foreign::page(line.trim_end()).into_owned()
        });
        self.text.push('\n');
    }

    fn bold(&self, text: &str) -> String {
        self.paint("1", text)
    }

    fn dim(&self, text: &str) -> String {
        self.paint("2", text)
    }

    fn good(&self, text: &str) -> String {
        self.paint("32", text)
    }

    fn warn(&self, text: &str) -> String {
        self.paint("33", text)
    }

    fn plain(&self, text: &str) -> String {
        foreign::line(text).into_owned()
    }

    fn paint(&self, code: &str, text: &str) -> String {
        let text = foreign::line(text).into_owned();
        if self.style.colour && !text.is_empty() { format!("\x1b[{code}m{text}\x1b[0m") } else { text }
    }
}

/// Units that stay on the line of their number.
pub(crate) const UNITS: [&str; 16] =
    ["ns", "µs", "ms", "s", "min", "h", "B", "KiB", "MiB", "GiB", "TiB", "KB/s", "MB/s", "GB/s", "%", "IOPS"];

/// Lines of at most `width` characters, broken at blanks but not before a unit; a longer word stands alone. At
/// least one line.
pub fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        let unit = UNITS.contains(&word.trim_end_matches([',', ')', ';', ':', '.']));
        match words.last_mut().filter(|_| unit) {
            Some(number) => *number = format!("{number} {word}"),
            None => words.push(word.to_owned()),
        }
    }
    let mut lines = vec![String::new()];
    for word in words {
        let line = lines.last_mut().expect("there is always a line");
        if line.is_empty() {
            *line = word;
        } else if line.chars().count() + 1 + word.chars().count() <= width {
            line.push(' ');
            line.push_str(&word);
        } else {
            lines.push(word);
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_wrap_at_blanks() {
        assert_eq!(wrap("one two three", 7), ["one two", "three"]);
        assert_eq!(wrap("extraordinary", 4), ["extraordinary"]);
        assert_eq!(wrap("", 4), [""]);
        assert_eq!(wrap("costs 249 µs, or 4 MiB", 11), ["costs", "249 µs, or", "4 MiB"]);
    }
}
