//! The report as one HTML page: nothing to load, complete without scripts, readable in the light, in the dark and in the hand.

mod any;
mod figures;
mod page;
pub(crate) mod plots;

pub use any::any;
pub(crate) use page::{PLOTS, SURFACES, page, styled_page};
pub use page::{any_policy, policy, style_sheet};

use flashscope_model::finding::{Advice, Severity};
use flashscope_model::{RunRecord, run::Plan};
use flashscope_view::advice::instruction;
use flashscope_view::answer::{self, Answer};
use flashscope_view::card::{self, Card, Tone};
use flashscope_view::made;
use flashscope_view::table::{Cell, Room, Table, performance, remarks, tables};
use maud::{Markup, html as markup};

/// Rows of a table of single figures that a page shows.
const ROWS: usize = 64;

/// The whole report of a run as one self-contained page.
pub fn html(run: &RunRecord) -> String {
    let body = markup! {
        (header(run))
        main {
            (geometry(run))
            (advice(&run.findings.advice))
            (performance_section(run))
            (figures::sections(run))
            (notes(run))
            (how(&run.plan))
            (all_figures(run))
        }
        footer { "flashscope " (run.envelope.tool.version) ". Every sample stands in the run's JSON record." }
    };
    page(&card::subject(run), &body)
}

fn header(run: &RunRecord) -> Markup {
    let device = run.envelope.device.as_ref();
    let claims = answer::claims(run);
    let facts = [
        ("target", Some(run.envelope.target.clone())),
        ("capacity", run.observations.capacity.map(|capacity| capacity.to_string())),
        ("claims", (!claims.is_empty()).then(|| claims.join(", "))),
        ("state", answer::state_word(&run.observations.runs).map(str::to_owned)),
        ("brought into a state", made::state(&run.envelope)),
        ("identity", device.and_then(|device| device.identity.as_ref()).map(|identity| identity.0.clone())),
        ("path taken", answer::path(run)),
        ("floor: one block again and again", answer::floor(&run.observations.runs)),
        ("when and where", run.envelope.when_and_where()),
        ("cost", Some(answer::cost(run))),
    ];
    markup! {
        header {
            p.eyebrow { "flashscope " (run.envelope.command) }
            h1 {
                @match device {
                    Some(device) => { (answer::kind_word(device.kind)) " " (device.name) }
                    None => { (run.envelope.target) }
                }
                @if device.is_some_and(|device| device.simulated) { span.badge { "simulated" } }
            }
            (glance(&card::card(run)))
            dl.facts {
                @for (name, fact) in facts {
                    @if let Some(fact) = fact { div { dt { (name) } dd { (fact) } } }
                }
            }
            @if let Some(why) = answer::cut_short(&run.envelope.stop) {
                p.callout { strong { "Cut short" } ": " (why) }
            }
        }
    }
}

/// The first glance.
fn glance(card: &Card) -> Markup {
    markup! {
        dl."card glance" {
            @for row in &card.rows {
                dt { (row.name) }
                @match row.tone {
                    Tone::Command => { dd { code { (row.text) } } }
                    Tone::Plain => { dd { (row.text) } }
                    Tone::Warning => { dd.warning { (row.text) } }
                    Tone::Open => { dd.open { (row.text) } }
                }
            }
        }
    }
}

fn geometry(run: &RunRecord) -> Markup {
    markup! {
        section {
            h2 { (answer::heading(run)) }
            div."card answers" {
                @for answer in answer::of_run(run) { (one_answer(&answer)) }
            }
        }
    }
}

fn one_answer(answer: &Answer) -> Markup {
    markup! {
        div {
            span.name { (answer.name) }
            @match &answer.figure {
                Some(figure) => { span.figure { (figure) } }
                None => { span."figure unknown" { (answer.verdict()) } }
            }
            @match answer.confidence {
                Some(share) => {
                    span class={ "sure " (level(share)) } style={ "--share:" (share * 100.0) "%" } {
                        (answer::percent(share)) i { b {} }
                    }
                }
                None => { span {} }
            }
            span.why {
                (answer.why)
                @if let Some(others) = answer.others() { span.others { (others) } }
            }
        }
    }
}

fn level(share: f64) -> &'static str {
    match share {
        share if share >= 0.95 => "good",
        share if share >= 0.8 => "fair",
        _ => "poor",
    }
}

fn advice(advice: &[Advice]) -> Markup {
    markup! {
        @if !advice.is_empty() {
            section {
                h2 { "What to do with it" }
                div."card advice" {
                    @for item in advice {
                        div {
                            span.topic { (item.topic) }
                            (typed(&item.text))
                            span.because { "because " (item.because) }
                        }
                    }
                }
            }
        }
    }
}

/// What is read, and below it what is typed.
fn typed(text: &str) -> Markup {
    let parts = instruction(text);
    markup! {
        span {
            @if let Some(words) = parts.words { (words) @if parts.command.is_some() { ":" br; } }
            @if let Some(command) = parts.command { code { (command) } }
        }
    }
}

fn performance_section(run: &RunRecord) -> Markup {
    let cells = &run.findings.performance;
    markup! {
        @if !cells.is_empty() {
            @let table = performance(cells, Room::Page);
            section {
                h2 { "Performance" }
                div."card scroll" { (one_table(&table)) }
                p.muted style="margin-top:8px;font-size:13px" {
                    (table.caption)
                    @for change in remarks(cells) { "; " (change) }
                    @if let Some(line) = &run.findings.transfer {
                        "; long reads take " (line.access) " and then " (line.rate)
                    }
                }
            }
        }
    }
}

fn notes(run: &RunRecord) -> Markup {
    let warnings = answer::warnings(run);
    let notes = &run.findings.notes;
    markup! {
        @if !warnings.is_empty() || !notes.is_empty() {
            section {
                h2 { "Notes" }
                ul."card notes" {
                    @for warning in &warnings { li { strong { "Warning" } ": " (warning) } }
                    @for note in notes {
                        li {
                            @if note.kind.severity() == Severity::Warning { strong { "Warning" } ": " }
                            (note.text)
                            @if let Some(hint) = &note.hint { span.hint { "Hint: " (hint) } }
                        }
                    }
                }
            }
        }
    }
}

fn how(plan: &Plan) -> Markup {
    let text = |text: &str| Cell::Text(text.to_owned());
    let steps = Table {
        caption: String::new(),
        columns: ["experiment", "parameters", "why"].map(str::to_owned).into(),
        rows: plan
            .steps
            .iter()
            .map(|step| vec![text(&step.experiment), text(&step.parameters), text(&step.why)])
            .collect(),
    };
    let time = plan.budget.time.map_or("any time".to_owned(), |time| time.to_string());
    markup! {
        @if !plan.steps.is_empty() {
            section {
                h2 { "How it was measured" }
                p.muted {
                    (plan.steps.len()) " experiments, each chosen for what it would settle; seed " (plan.seed)
                    "; allowed to write " (plan.budget.write) " and to take " (time) "."
                }
                details {
                    summary { "The experiments and why each was chosen" }
                    div."card scroll" { (one_table(&steps)) }
                }
            }
        }
    }
}

fn all_figures(run: &RunRecord) -> Markup {
    let all: Vec<(&str, Table)> = run
        .observations
        .runs
        .iter()
        .flat_map(|run| tables(&run.data).into_iter().map(|table| (run.data.name().word(), table)))
        .collect();
    markup! {
        @if !all.is_empty() {
            section {
                details {
                    summary { "All figures as tables (" (all.len()) ")" }
                    @for (name, table) in &all {
                        p.caption { strong { (name) } " " span.muted { (table.caption) } }
                        div."card scroll" { (one_table(table)) }
                    }
                }
            }
        }
    }
}

/// One table; words are read from the left.
pub(crate) fn one_table(table: &Table) -> Markup {
    let words = |at: usize| table.rows.iter().any(|row| row[at].is_text());
    let left = |at: usize| words(at).then_some("words");
    let last = table.columns.len().saturating_sub(1);
    let prose = |at: usize| if words(at) && at == last && at > 0 { "words prose" } else { "words" };
    markup! {
        table {
            thead { tr { @for (at, head) in table.columns.iter().enumerate() { th class=[left(at)] { (head) } } } }
            tbody {
                @for row in table.rows.iter().take(ROWS) {
                    tr { @for (at, cell) in row.iter().enumerate() { td class=[left(at).map(|_| prose(at))] { (cell) } } }
                }
                @if table.rows.len() > ROWS {
                    tr { td.words colspan=(table.columns.len()) {
                        span.muted { "… " (table.rows.len() - ROWS) " more rows; the record holds them all" }
                    } }
                }
            }
        }
    }
}
