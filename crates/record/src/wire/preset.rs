//! What a run of load was for.

use super::{AppFigures, AppPlace, AppPlan, AppRun, Named, OrderInterval, Verdict};
use crate::mirror::{mirror, mirror_tuple, words};
use flashscope_model::preset as model;

mirror! {
    /// A run by a definition.
    Preset of model::PresetRun {
        /// Name of the definition.
        name: String = name,
        /// What it is.
        title: String = title,
        /// Who defined it so.
        source: String = source,
        /// What was not as defined, each in words; empty where it was run as it stands.
        changed: Vec<String> = changed,
        /// Jobs that could not run on this target.
        left_out: Vec<LeftOut> = left_out,
        /// What must be known to read the figures.
        notes: Vec<String> = notes,
        /// The figures, in the order of the definition.
        figures: Vec<PresetFigure> = figures,
        /// What was seen of steadiness; null where the definition asks for no rounds.
        rounds: Option<Rounds> = rounds,
        /// Facts of host and device that bound the figures.
        bounds: Vec<Named> = bounds,
        /// The applications that the definition asks for; null where it asks for none, or none could be played.
        played: Option<PresetApps> = played,
        /// The definition (TOML).
        definition: String = definition,
    }

    /// Applications played for a definition, after its jobs.
    PresetApps of model::Played {
        /// What was to be played.
        plan: AppPlan = plan,
        /// Where.
        place: AppPlace = place,
        /// Every run, in order.
        app_runs: Vec<AppRun> = runs,
        /// What they come to.
        figures: Vec<AppFigures> = figures,
    }

    /// One figure.
    PresetFigure of model::Figure {
        /// Its name.
        name: String = name,
        /// Unit of its values.
        unit: FigureUnit = unit,
        /// What was measured, run by run.
        values: Vec<f64> = values,
        /// Which statistic of them counts.
        statistic: FigureStatistic = statistic,
        /// The statistic; null where nothing was measured, or no steady state was reached.
        value: Option<f64> = value,
        /// Where the median of all such runs lies; null with fewer than two runs, and for other statistics.
        interval: Option<OrderInterval> = interval,
        /// Whose figure it is, the gravest of all runs; null where nothing was run.
        whose: Option<Verdict> = whose,
        /// Share of the bytes that the device had moved when the clock stopped, the middle one; null where nobody counts.
        device_share_ratio: Option<f64> = device_share,
        /// The definition's limits.
        limits: Vec<Limit> = limits,
    }

    /// A limit.
    Limit of model::Judged {
        /// Its name.
        name: String = name,
        /// In the unit of the figure.
        limit: f64 = limit,
        /// Whether the figure must be at least as large; else at most.
        at_least: bool = at_least,
        /// What the figure says to it.
        verdict: LimitVerdict = verdict,
        /// Why.
        why: String = why,
    }

    /// Steadiness over rounds.
    Rounds of model::Rounds {
        /// Rounds that were run.
        run_count: u32 = run,
        /// The round, counted from 1, that completed the first steady window; null where there was none.
        steady_at: Option<u32> = steady_at,
        /// The figures that were followed.
        tracked: Vec<Tracked> = tracked,
        /// The conclusion in words.
        why: String = why,
    }

    /// One figure over the rounds.
    Tracked of model::Tracked {
        /// Its name.
        name: String = name,
        /// Unit of its values.
        unit: FigureUnit = unit,
        /// Its value in every round.
        values: Vec<f64> = values,
        /// Bytes that its job had written in all after every round; empty where it only reads.
        written_bytes: Vec<f64> = written,
        /// Mean of the last five; null with fewer.
        mean: Option<f64> = mean,
        /// (largest − smallest) / mean of the last five.
        range_ratio: Option<f64> = range_ratio,
        /// Rise of the straight line across the last five over their mean.
        slope_ratio: Option<f64> = slope_ratio,
    }
}

mirror_tuple! {
    /// A job that could not run.
    LeftOut of (String, String) {
        /// Its name.
        job: String,
        /// Why, and what to do.
        why: String,
    }
}

words! {
    /// A unit.
    FigureUnit mirrors model::Unit {
        /// Bytes per second.
        #[serde(rename = "bytes_per_s")]
        BytesPerSecond,
        /// Requests per second.
        #[serde(rename = "requests_per_s")]
        PerSecond,
        /// Transactions of a database per second.
        #[serde(rename = "transactions_per_s")]
        TransactionsPerSecond,
        /// Nanoseconds.
        #[serde(rename = "ns")]
        Nanoseconds,
    }
}

words! {
    /// A statistic.
    FigureStatistic mirrors model::Statistic {
        /// The middle one.
        Median,
        /// The mean of the steady window, or of the last rounds where `steady_at` is null.
        Mean,
        /// The smallest.
        Smallest,
        /// The largest.
        Largest,
    }
}

words! {
    /// What a figure says to a limit.
    LimitVerdict mirrors model::LimitVerdict {
        /// It keeps it.
        Met,
        /// It does not.
        Missed,
        /// It cannot be told.
        CannotTell,
    }
}
