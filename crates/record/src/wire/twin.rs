//! The part of a fit: the model, where its figures come from, and how well it fits.

use crate::mirror::{mirror, part, words};
use flashscope_model::twin as model;

part! {
    /// A simulated device fitted to a measured one.
    TwinPart of model::TwinRecord as [Twin] {
        /// The files that it was fitted to.
        sources: Vec<String> = sources,
        /// The model file (TOML).
        model_toml: String = model,
        /// Every parameter that was filled in.
        parameters: Vec<Parameter> = parameters,
        /// What became of every finding.
        findings: Vec<TwinFinding> = findings,
        /// What a reader must know first; null where there is nothing.
        caution: Option<String> = caution,
        /// Measured figures that no model could be asked for, and why.
        left_out: Vec<String> = left_out,
        /// How well it fits, by the clauses of docs/twin.md.
        goodness: Goodness = goodness,
    }
}

mirror! {
    /// One parameter of a model.
    Parameter of model::Parameter {
        /// Its path in the model file.
        path: String = path,
        /// Its value as the file spells it.
        value: String = value,
        /// Where it comes from.
        origin: Origin = origin,
        /// The evidence, or why it is this default.
        why: String = why,
    }

    /// One finding, and what became of it.
    TwinFinding of model::Finding {
        /// Its name, as under `geometry`.
        finding: String = name,
        /// The figure or the bound in words; null where it is unknown.
        figure: Option<String> = figure,
        /// Probability that it is right; null where it is unknown.
        confidence: Option<f64> = confidence,
        /// What became of it.
        fate: TwinOutcome = outcome,
        /// Why the twin does not hold it, or why it is not known; null where it holds it.
        why: Option<String> = why,
        /// The parameter that holds it, or that stands in its place; null where there is none.
        path: Option<String> = path,
    }

    /// How well a twin fits.
    Goodness of model::Goodness {
        /// Share of all figures within 15 %, contrasts left out.
        within_15_percent_ratio: f64 = within,
        /// Pooled by test.
        tests: Vec<Pool> = tests,
        /// Levels of what straddling costs.
        clause_b: Vec<Plateau> = plateaus,
        /// Rows of chance.
        clause_c: Vec<Band> = bands,
        /// Models that are wrong on purpose.
        clause_d: Vec<Wrong> = wrong,
        /// Every figure that both sides have.
        cells: Vec<Cell> = cells,
    }

    /// The figures of one test.
    Pool of model::Pool {
        /// The test.
        test: String = test,
        /// All its figures but contrasts.
        all: Errors = all,
        /// Those that clause (a) is about; null where there is no such figure.
        clause_a: Option<HeldErrors> = close,
    }

    /// Errors of some figures.
    Errors of model::Errors {
        /// How many figures.
        cells: u64 = cells,
        /// Share within 15 %.
        within_15_percent_ratio: f64 = within,
        /// Median size of the error.
        median_error_ratio: f64 = median,
    }

    /// Errors, and whether they are small enough.
    HeldErrors of model::Held {
        /// The errors.
        #[serde(flatten)]
        errors: Errors = errors,
        /// Whether the clause is met.
        holds: bool = holds,
    }

    /// What straddling costs on one level of one table.
    Plateau of model::Plateau {
        /// The table.
        table: String = table,
        /// What the boundaries are of.
        level: String = level,
        /// Mean of the measured contrasts.
        measured_ns: f64 = measured_ns,
        /// Mean of the simulated ones.
        simulated_ns: f64 = simulated_ns,
        /// Whether the clause is met.
        holds: bool = holds,
    }

    /// A row of chance.
    Band of model::Band {
        /// The figure; what is simulated is the median of the seeds.
        #[serde(flatten)]
        cell: Cell = cell,
        /// Lower end of the central 95 % of the seeds.
        low: f64 = low,
        /// Upper end.
        high: f64 = high,
        /// How far measured figures lie apart that would be equal without chance; null of too few.
        replicate_spread: Option<f64> = spread,
        /// Whether the clause is met.
        holds: bool = holds,
    }

    /// A model that is wrong on purpose.
    Wrong of model::Wrong {
        /// What is wrong with it.
        model: String = what,
        /// How far its figures are off, against the twin's.
        farther_ratio: f64 = farther,
        /// Whether it is told from the twin.
        rejected: bool = rejected,
    }

    /// One measured figure and the simulated one.
    Cell of model::Cell {
        /// The test.
        test: String = test,
        /// The command, for people.
        table: String = table,
        /// The run in the measurement, counted from 0.
        run: u64 = run,
        /// Alignment or block size: what the row is called.
        row_bytes: u64 = row,
        /// What the column is called.
        column: String = column,
        /// What the figures are.
        unit: CellUnit = unit,
        /// As measured.
        measured: f64 = measured,
        /// As simulated.
        simulated: f64 = simulated,
        /// Requests that the simulated figure is over.
        requests: u64 = requests,
        /// The letter of the clause that it is held to.
        clause: String = clause,
    }
}

words! {
    /// Where a parameter comes from.
    Origin mirrors model::Origin {
        /// A conclusion of the inference.
        Found,
        /// Fitted to figures of the measurement.
        Fitted,
        /// Not in the measurement.
        Default,
    }
}

words! {
    /// What became of a finding.
    TwinOutcome mirrors model::Outcome {
        /// The twin has it.
        Held,
        /// It was found, and the twin does not have it.
        NotHeld,
        /// It was not found.
        Unknown,
    }
}

words! {
    /// Unit of a measured figure.
    CellUnit mirrors model::Unit {
        /// Nanoseconds.
        #[serde(rename = "ns")]
        Nanoseconds,
        /// Bytes per second.
        #[serde(rename = "bytes_per_s")]
        BytesPerSecond,
    }
}
