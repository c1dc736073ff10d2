//! A sweep as one page: what each knob does, the chart of all ratios, a table per figure, and every run in order of time.

use crate::comparison::{self, ratio_figures, run_figures};
use crate::html::plots::sections;
use crate::html::{one_table, page};
use crate::sheet;
use crate::xlsx::Sheet;
use flashscope_model::sweep::SweepRecord;
use flashscope_view::answer;
use flashscope_view::comparison::how;
use flashscope_view::sweep::{effects, notes, sentences, tables, title};
use maud::html as markup;

/// The whole sweep as a page that loads nothing.
pub fn html(record: &SweepRecord) -> String {
    let (title, envelope) = (title(record), &record.comparison.envelope);
    let groups = &record.comparison.groups;
    let body = markup! {
        header {
            p.eyebrow { "flashscope " (envelope.command) }
            h1 { (title) }
            dl.facts {
                @for knob in &record.sweep.knobs { div { dt { (knob.name) } dd { (knob.values.join(", ")) } } }
                @if let Some(when) = envelope.when_and_where() { div { dt { "when and where" } dd { (when) } } }
            }
            @if let Some(why) = answer::cut_short(&envelope.stop) { p.callout { strong { "Cut short" } ": " (why) } }
        }
        main {
            section {
                h2 { "The answer" }
                ul { @for sentence in sentences(record) { li { (sentence) } } }
            }
            (sections(vec![("Ratios", groups.iter().flat_map(ratio_figures).collect())]))
            section {
                h2 { "Conditions" }
                @for table in tables(record) { h3 { (table.caption) } div."card scroll" { (one_table(&table)) } }
                @for group in groups { p.muted { (how(&group.comparison)) } }
            }
            @if let Some(effects) = effects(record) { section { h2 { "Effects" } p { (effects.caption) } div."card scroll" { (one_table(&effects)) } } }
            section {
                h2 { "What it rests on" }
                ul { @for note in notes(record) { li { (note) } } }
                @if let Some(campaign) = &record.comparison.campaign {
                    details { summary { "The jobs of each run" } div."card scroll" { pre.definition { (campaign.job) } } }
                }
            }
            (sections(vec![("Runs in order of time", groups.iter().flat_map(run_figures).collect())]))
            (sheet::sections(&run_sheet(record)))
        }
        footer { "flashscope " (envelope.tool.version) ". Every run stands in the JSON record." }
    };
    page(&title, &body)
}

/// Every run; what else the sheets hold stands on the page already.
fn run_sheet(record: &SweepRecord) -> Vec<Sheet> {
    comparison::sheets(&record.comparison).into_iter().filter(|sheet| sheet.name == "runs").collect()
}
