//! A fit as the plain data that is shown and stored.

use crate::card::{Origin, Parameter};
use crate::cells::{Cell, Figure};
use crate::findings::{Outcome, TwinFinding};
use crate::fit::Fit;
use crate::goodness::{Clause, Errors, Goodness};
use flashscope_model::{Envelope, twin as plain};

impl Fit {
    /// The model, where each parameter comes from, and every figure beside the simulated one.
    pub fn told(&self, envelope: Envelope) -> plain::TwinRecord {
        plain::TwinRecord {
            envelope,
            sources: self.sources.clone(),
            model: self.model.clone(),
            parameters: self.parameters.iter().map(parameter).collect(),
            findings: self.findings.iter().map(finding).collect(),
            caution: self.caution.clone(),
            left_out: self.left_out.clone(),
            goodness: goodness(&self.goodness),
        }
    }
}

fn goodness(goodness: &Goodness) -> plain::Goodness {
    let errors = |errors: &Errors| plain::Errors { cells: errors.cells, within: errors.within, median: errors.median };
    let tests = goodness.tests.iter().map(|pool| plain::Pool {
        test: pool.test.name().to_owned(),
        all: errors(&pool.all),
        close: pool.close.as_ref().map(|close| plain::Held { errors: errors(close), holds: close.hold() }),
    });
    let plateaus = goodness.plateaus.iter().map(|plateau| plain::Plateau {
        table: plateau.table.clone(),
        level: plateau.level.to_owned(),
        measured_ns: plateau.measured,
        simulated_ns: plateau.simulated,
        holds: plateau.holds(),
    });
    let bands = goodness.bands.iter().map(|band| plain::Band {
        cell: cell(&band.cell),
        low: band.low,
        high: band.high,
        spread: band.spread,
        holds: band.holds(),
    });
    let wrong = goodness.wrong.iter().map(|wrong| plain::Wrong {
        what: wrong.what.to_owned(),
        farther: wrong.farther,
        rejected: wrong.is_rejected(),
    });
    plain::Goodness {
        within: goodness.within(),
        tests: tests.collect(),
        plateaus: plateaus.collect(),
        bands: bands.collect(),
        wrong: wrong.collect(),
        cells: goodness.cells.iter().map(cell).collect(),
    }
}

fn finding(finding: &TwinFinding) -> plain::Finding {
    let (outcome, why, path) = match &finding.outcome {
        Outcome::Held(path) => (plain::Outcome::Held, None, Some(*path)),
        Outcome::NotHeld(why) => (plain::Outcome::NotHeld, Some(why.clone()), None),
        Outcome::Unknown(why, path) => (plain::Outcome::Unknown, Some(why.clone()), Some(*path)),
    };
    plain::Finding {
        name: finding.finding.wire().to_owned(),
        figure: finding.figure.clone(),
        confidence: finding.confidence,
        outcome,
        why,
        path: path.filter(|path| !path.is_empty()).map(str::to_owned),
    }
}

fn parameter(parameter: &Parameter) -> plain::Parameter {
    let (origin, why) = match &parameter.origin {
        Origin::Found(why) => (plain::Origin::Found, why),
        Origin::Fitted(why) => (plain::Origin::Fitted, why),
        Origin::Default(why) => (plain::Origin::Default, why),
    };
    plain::Parameter { path: parameter.path.clone(), value: parameter.value.clone(), origin, why: why.clone() }
}

fn cell(cell: &Cell) -> plain::Cell {
    plain::Cell {
        test: cell.test.name().to_owned(),
        table: cell.table.clone(),
        run: cell.run,
        row: cell.row,
        column: cell.column.clone(),
        unit: match cell.figure {
            Figure::Time => plain::Unit::Nanoseconds,
            Figure::Rate => plain::Unit::BytesPerSecond,
        },
        measured: cell.measured,
        simulated: cell.simulated,
        requests: cell.operations,
        clause: Clause::of(cell).letter().to_owned(),
    }
}
