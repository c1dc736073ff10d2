//! What a host and the days add to a run: sessions, scatter, drift and stalls. Only the ratio of runs in one block stays free of it.

use super::Run;
use flashscope_stats::Rng;

/// Scatter between sessions (power-ups, mounts, host states), as the standard deviation of the logarithm of a rate. One
/// project's continuous benchmark on hosts of one kind had 2.8 % within runs and 15.0 % between them.
const BETWEEN_SESSIONS: f64 = 0.15;
/// Correlation of a run's scatter with that of the run before it in the same session.
const CORRELATION: f64 = 0.5;
/// One run in so many is hit by a stall of the host.
const STALL_CHANCE: f64 = 0.03;
/// Mean loss of such a run, in standard deviations of the scatter.
const STALL_LOSS: f64 = 3.0;
/// Drift over a campaign of a hundred runs, at most, as a logarithm; up or down.
const DRIFT: f64 = 0.2;

/// What lies around the runs of one campaign.
pub(crate) struct Surroundings {
    rng: Rng,
    scatter: f64,
    drift: f64,
    run: u32,
    session: f64,
    before: Option<f64>,
}

impl Surroundings {
    pub(crate) fn draw(scatter: f64, rng: &mut Rng) -> Surroundings {
        let mut rng = Rng::new(rng.next_u64());
        let drift = DRIFT * (2.0 * rng.unit() - 1.0);
        Surroundings { rng, scatter, drift, run: 0, session: 0.0, before: None }
    }

    /// A new session: what it adds is the same for all its runs, and scatter begins anew.
    pub(crate) fn session(&mut self) {
        self.session = BETWEEN_SESSIONS * self.rng.normal();
        self.before = None;
    }

    /// One run as it is measured here and now.
    pub(super) fn around(&mut self, run: Run) -> Run {
        let shift = self.shift();
        let mut run = run;
        run.rate *= shift.exp();
        run.requests.mean -= shift;
        run
    }

    /// What the next run's rate is multiplied by, as a logarithm.
    pub(crate) fn shift(&mut self) -> f64 {
        let fresh = self.rng.normal();
        // Stationary from the first run on.
        let scatter =
            self.before.map_or(fresh, |before| CORRELATION * before + (1.0 - CORRELATION * CORRELATION).sqrt() * fresh);
        self.before = Some(scatter);
        let stall = if self.rng.unit() < STALL_CHANCE { -STALL_LOSS * (1.0 - self.rng.unit()).ln() } else { 0.0 };
        let drift = self.drift * f64::from(self.run) / 100.0;
        self.run += 1;
        self.session + self.scatter * (scatter - stall) + drift
    }
}
