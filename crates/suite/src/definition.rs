//! A definition as it stands in a file.

use crate::figure::{Measure, Take};
use crate::rounds::RoundRule;
use flashscope_load::file::{JobText, Text};
use flashscope_model::preset::{Statistic, Unit};
use flashscope_units::{Bytes, Nanos};
use serde::Deserialize;
use std::fmt;

/// A preset: what is measured, and what is made of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Definition {
    /// The text that it was read from.
    pub text: String,
    pub(crate) header: Header,
    pub(crate) rounds: Option<RoundRule>,
    pub(crate) quick: Quick,
    pub(crate) all: JobText,
    pub(crate) jobs: Vec<JobText>,
    pub(crate) figures: Vec<FigureRule>,
    pub(crate) apps: Vec<AppRule>,
}

/// An application that is played after the jobs, as often as they run.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct AppRule {
    /// As `flashscope app list` has it, or the file of one.
    pub(crate) name: String,
    #[serde(default, rename = "figure")]
    pub(crate) figures: Vec<TransactionRule>,
}

/// A figure in transactions per second.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct TransactionRule {
    pub(crate) name: String,
    /// The app's operation, each performance of which is one transaction.
    pub(crate) operation: String,
}

/// Who it is.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Header {
    pub(crate) name: String,
    pub(crate) title: String,
    pub(crate) source: String,
    #[serde(default)]
    pub(crate) notes: Vec<String>,
    /// How often all jobs run.
    #[serde(default = "once")]
    pub(crate) repeat: u32,
    /// Jobs that run once, before all others.
    #[serde(default)]
    pub(crate) prepare: Vec<String>,
}

fn once() -> u32 {
    1
}

/// What `--quick` changes: words of jobs that already say something of the kind, and how often.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Quick {
    pub(crate) runtime: Option<Text>,
    pub(crate) pause: Option<String>,
    pub(crate) repeat: Option<u32>,
    pub(crate) rounds: Option<u32>,
}

/// A figure that is asked for.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct FigureRule {
    pub(crate) name: String,
    pub(crate) take: Take,
    /// Goes by the unit that the device claims, or by this one where it claims none.
    pub(crate) claimed: Option<Bytes>,
    pub(crate) statistic: Statistic,
    pub(crate) limits: Vec<LimitRule>,
}

/// A limit.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct LimitRule {
    pub(crate) name: String,
    pub(crate) limit: f64,
    pub(crate) at_least: bool,
}

/// Why a text is no definition. Prints as what is wrong, and a hint on its own line where there is one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DefinitionError {
    /// It is not TOML, or says what a definition does not know; the message says where.
    Text(String),
    /// It contradicts itself.
    Sense(String),
}

impl fmt::Display for DefinitionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(why) => {
                write!(f, "{why}\nhint: `flashscope bench --preset app-class --explain` prints a definition")
            }
            Self::Sense(why) => write!(f, "{why}"),
        }
    }
}

impl std::error::Error for DefinitionError {}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FileText {
    preset: Header,
    rounds: Option<RoundsText>,
    #[serde(default)]
    quick: Quick,
    #[serde(default)]
    all: JobText,
    #[serde(default)]
    job: Vec<JobText>,
    #[serde(default)]
    figure: Vec<FigureText>,
    #[serde(default)]
    app: Vec<AppRule>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RoundsText {
    at_most: u32,
    track: Vec<String>,
    #[serde(default)]
    spans_before: f64,
    spans_at_most: Option<f64>,
    standard: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FigureText {
    name: String,
    job: String,
    of: String,
    unit: Option<String>,
    times: Option<f64>,
    statistic: Option<String>,
    #[serde(default)]
    limit: Vec<LimitText>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct LimitText {
    name: String,
    at_least: Option<Amount>,
    at_most: Option<Amount>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Amount {
    Number(f64),
    Text(String),
}

impl Definition {
    /// Reads one.
    ///
    /// # Errors
    /// Where the text is not TOML, has a word too many or too few, names a job or figure that there is not, or sets no job.
    pub fn parse(text: &str) -> Result<Definition, DefinitionError> {
        let file: FileText =
            toml::from_str(text).map_err(|error| DefinitionError::Text(error.to_string().trim_end().to_owned()))?;
        let figures: Vec<FigureRule> = file.figure.into_iter().map(figure).collect::<Result<_, _>>()?;
        let rounds = file.rounds.map(|rounds| RoundRule {
            at_most: rounds.at_most,
            track: rounds.track,
            spans_before: rounds.spans_before,
            spans_at_most: rounds.spans_at_most,
            standard: rounds.standard,
        });
        let definition = Definition {
            text: text.to_owned(),
            header: file.preset,
            rounds,
            quick: file.quick,
            all: file.all,
            jobs: file.job,
            figures,
            apps: file.app,
        };
        definition.check().map(|()| definition)
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.header.name
    }

    /// What it is, in one line.
    pub fn title(&self) -> &str {
        &self.header.title
    }

    /// The same for a device that claims an allocation unit: what is defined by the unit that is claimed goes by it, and says so.
    pub fn for_claim(mut self, claim: Option<Bytes>) -> Definition {
        let mut said = None;
        for figure in &mut self.figures {
            let Some(assumed) = figure.claimed else { continue };
            let unit = claim.unwrap_or(assumed);
            figure.take.measure = figure.take.measure.in_units_of(unit);
            let whole = |size: &Option<Text>| {
                let bytes: Bytes = size.as_ref()?.to_string().parse().ok()?;
                Some(Text::Number(bytes.align_up(unit).get()))
            };
            // Whoever reads what it wrote goes where it went.
            let its = self.jobs.iter().find(|job| job.name.as_deref() == Some(&*figure.take.job));
            let its = its.map(|job| (job.offset.clone(), job.span.clone()));
            for job in self.jobs.iter_mut().filter(|job| Some((job.offset.clone(), job.span.clone())) == its) {
                (job.offset, job.span) = (whole(&job.offset), whole(&job.span));
            }
            said = Some(match claim {
                Some(unit) => format!("allocation units of {unit}, as the device claims"),
                None => format!("allocation units of {assumed} are assumed, as the device's own claim cannot be read"),
            });
        }
        self.header.notes.extend(said);
        self
    }

    /// The applications that are played after the jobs, by name.
    pub fn apps(&self) -> impl Iterator<Item = &str> {
        self.apps.iter().map(|app| app.name.as_str())
    }

    /// The operations of an application that its figures are of.
    pub fn operations(&self, app: &str) -> Vec<&str> {
        let figures = self.apps.iter().filter(|found| found.name == app).flat_map(|found| &found.figures);
        figures.map(|figure| figure.operation.as_str()).collect()
    }

    /// Whether it sets a limit of this name.
    pub fn has_limit(&self, name: &str) -> bool {
        self.figures.iter().flat_map(|figure| &figure.limits).any(|limit| answers_to(&limit.name, name))
    }

    fn check(&self) -> Result<(), DefinitionError> {
        let wrong = |why: String| Err(DefinitionError::Sense(why));
        if self.jobs.is_empty() {
            return wrong("there is no [[job]] in it".to_owned());
        }
        let names: Vec<&str> = self.jobs.iter().filter_map(|job| job.name.as_deref()).collect();
        if names.len() < self.jobs.len() {
            return wrong("every [[job]] needs a name, by which figures find it".to_owned());
        }
        let there = |name: &str| names.contains(&name);
        if let Some(name) = self.header.prepare.iter().find(|name| !there(name)) {
            return wrong(format!("prepare names '{name}', but there is no such job"));
        }
        if let Some(figure) = self.figures.iter().find(|figure| !there(&figure.take.job)) {
            return wrong(format!(
                "the figure '{}' is of '{}', but there is no such job",
                figure.name, figure.take.job
            ));
        }
        if let Some(app) = self.apps.iter().find(|app| app.figures.is_empty()) {
            return wrong(format!("the app '{}' needs an [[app.figure]], for which it is played", app.name));
        }
        if self.rounds.is_some() && !self.apps.is_empty() {
            return wrong("an [[app]] is played as often as `repeat` says: leave [rounds] or the app away".to_owned());
        }
        if !(1..=1000).contains(&self.header.repeat) {
            return wrong("repeat must be from 1 to 1000".to_owned());
        }
        let Some(rounds) = &self.rounds else { return Ok(()) };
        let known = |name: &String| self.figures.iter().any(|figure| figure.name == *name);
        if let Some(name) = rounds.track.iter().find(|name| !known(name)) {
            return wrong(format!("rounds track '{name}', but there is no such figure"));
        }
        if rounds.at_most < 5 || rounds.track.is_empty() {
            return wrong("rounds need at_most = 5 or more, and a figure to track".to_owned());
        }
        if self.header.repeat != 1 {
            return wrong("rounds repeat by themselves: leave repeat away".to_owned());
        }
        Ok(())
    }
}

/// Whether a limit's name (`class 10, U1, V10`) is, or has among others, the one that was asked for.
pub fn answers_to(limit: &str, asked: &str) -> bool {
    limit == asked || limit.split(", ").any(|name| name == asked)
}

fn figure(text: FigureText) -> Result<FigureRule, DefinitionError> {
    let FigureText { name, job, of, unit, times, statistic, limit } = text;
    let wrong = |why: String| DefinitionError::Sense(format!("figure '{name}': {why}"));
    let (unit, by_claim) = match unit.as_deref().map(|unit| (unit.strip_prefix("claimed or "), unit)) {
        Some((Some(unit), _)) => (Some(unit), true),
        Some((None, unit)) => (Some(unit), false),
        None => (None, false),
    };
    let unit = unit.map(|unit| unit.parse::<Bytes>()).transpose().map_err(|error| wrong(error.to_string()))?;
    let measure = Measure::parse(&of, unit).map_err(wrong)?;
    let statistic = match statistic.as_deref() {
        None | Some("median") => Statistic::Median,
        Some("mean") => Statistic::Mean,
        Some("smallest") => Statistic::Smallest,
        Some("largest") => Statistic::Largest,
        Some(other) => {
            return Err(wrong(format!("there is no statistic '{other}'\nhint: median, mean, smallest or largest")));
        }
    };
    let rule = |text: LimitText| {
        let (amount, at_least) = match (text.at_least, text.at_most) {
            (Some(amount), None) => (amount, true),
            (None, Some(amount)) => (amount, false),
            _ => return Err(wrong(format!("limit '{}' needs either at_least or at_most", text.name))),
        };
        Ok(LimitRule { limit: amount.of(measure.unit()).map_err(wrong)?, name: text.name, at_least })
    };
    let limits = limit.into_iter().map(rule).collect::<Result<_, _>>()?;
    let take = Take { job, measure, times: times.unwrap_or(1.0) };
    Ok(FigureRule { name, take, claimed: unit.filter(|_| by_claim), statistic, limits })
}

impl Amount {
    /// In the unit of a figure: a plain number of requests per second, a text with its unit (`10 MB/s`, `250ms`).
    fn of(&self, unit: Unit) -> Result<f64, String> {
        let text = match (self, unit) {
            (Amount::Number(number), Unit::PerSecond) if number.is_finite() && *number >= 0.0 => return Ok(*number),
            (Amount::Number(number), _) => {
                return Err(format!("the limit {number} needs a unit (\"10 MB/s\", \"250ms\")"));
            }
            (Amount::Text(text), _) => text,
        };
        match unit {
            Unit::PerSecond | Unit::TransactionsPerSecond => {
                Err(format!("the limit '{text}' is a number of requests per second, without a unit"))
            }
            Unit::Nanoseconds => text.parse::<Nanos>().map(Nanos::as_f64).map_err(|error| error.to_string()),
            Unit::BytesPerSecond => {
                let number = text.strip_suffix("MB/s").and_then(|number| number.trim().parse::<f64>().ok());
                let number = number.filter(|number| number.is_finite() && *number >= 0.0);
                number
                    .map(|number| number * 1e6)
                    .ok_or_else(|| format!("the limit '{text}' is not a rate like \"10 MB/s\""))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WHOLE: &str = r#"
        [preset]
        name = "mine"
        title = "mine"
        source = "me"
        repeat = 3
        prepare = ["fill"]
        [quick]
        runtime = "1s"
        [[job]]
        name = "fill"
        rw = "write"
        [[job]]
        name = "read"
        rw = "randread"
        runtime = "5s"
        [[figure]]
        name = "random read"
        job = "read"
        of = "read requests/s"
        limit = [{ name = "A1", at_least = 1500 }]
        [[figure]]
        name = "longest read"
        job = "read"
        of = "read longest"
        statistic = "largest"
        limit = [{ name = "busy", at_most = "250ms" }]
    "#;

    #[test]
    fn a_whole_definition_is_understood() {
        let definition = Definition::parse(WHOLE).unwrap();
        assert_eq!((definition.name(), definition.header.repeat), ("mine", 3));
        let limits: Vec<&LimitRule> = definition.figures.iter().flat_map(|figure| &figure.limits).collect();
        assert_eq!((limits[0].limit, limits[0].at_least), (1500.0, true));
        assert_eq!((limits[1].limit, limits[1].at_least), (250e6, false));
    }

    #[test]
    fn mistakes_are_named() {
        let check = |from: &str, to: &str, words: &str| {
            let text = WHOLE.replace(from, to);
            assert_ne!(text, WHOLE, "{from}");
            let error = Definition::parse(&text).expect_err(words).to_string();
            assert!(error.contains(words), "{error}");
        };
        check("title = \"mine\"", "", "title");
        check("repeat = 3", "repeats = 3", "repeats");
        check("rw = \"write\"", "rv = \"write\"", "rv");
        check("prepare = [\"fill\"]", "prepare = [\"full\"]", "no such job");
        check("job = \"read\"", "job = \"reed\"", "no such job");
        check("read requests/s", "read speed", "hint");
        check("\"largest\"", "\"best\"", "no statistic 'best'");
        check("at_least = 1500", "at_least = \"1500 MB/s\"", "without a unit");
        check("at_most = \"250ms\"", "at_most = 250", "needs a unit");
        check("at_most = \"250ms\"", "over = \"250ms\"", "over");
        check("repeat = 3", "repeat = 0", "from 1 to 1000");
        check("name = \"fill\"\n        rw", "rw", "needs a name");
    }
}
