//! How often a test is right, and what its confidence is worth.

use super::Outcome;
use crate::calibration::calibration;
use crate::differences::Share;
use flashscope_model::capacity::{Between, Genuineness};
use flashscope_units::Bytes;

/// What is counted over some devices.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Figures {
    /// Genuine devices called something else.
    pub accused: Share,
    /// Genuine devices called genuine.
    pub cleared: Share,
    /// Fakes whose cache holds at most what is excluded, of the right kind and with the right size.
    pub right: Share,
    /// Of these, the size known to the block.
    pub to_the_block: Share,
    /// Of those of the right kind that begin anew: the right place.
    pub wrap: Share,
    /// Of those that are damaged: the interval of the share holds the true one.
    pub damage: Share,
    /// Fakes with a larger cache that were called genuine.
    pub hidden: Share,
    /// Verdicts that are wrong, of those given, whatever the cache.
    pub wrong: Share,
    /// Expected calibration error of the kind.
    pub calibration_error: Option<f64>,
    /// What was written at most.
    pub most_written: Bytes,
    /// Right in kind and size by the naive prober.
    pub naive: Share,
    /// Genuine devices that the naive prober accuses.
    pub naive_accused: Share,
}

/// A size is right where its interval holds the true one, and is no wider than this part of what is claimed.
const NARROW: u64 = 1000;

impl Outcome {
    /// Whether a cache answers for what the test cannot push out.
    pub fn is_hidden(&self) -> bool {
        self.cache > self.excluded_cache
    }

    fn is_genuine(&self) -> bool {
        self.fake.kind == Genuineness::Genuine
    }

    /// Whether the kind and the size are right.
    pub fn is_right(&self) -> bool {
        let narrow = self.claimed / NARROW;
        let right =
            |size: Between| size.low <= self.fake.real && self.fake.real <= size.high && size.high - size.low <= narrow;
        self.verdict.kind == Some(self.fake.kind) && self.verdict.true_size.is_some_and(right)
    }
}

impl Figures {
    /// Counts.
    pub fn of(outcomes: &[Outcome]) -> Figures {
        let share = |of: &dyn Fn(&&Outcome) -> bool, is: &dyn Fn(&Outcome) -> bool| {
            outcomes.iter().filter(of).fold(Share::default(), |share, outcome| Share {
                count: share.count + u32::from(is(outcome)),
                all: share.all + 1,
            })
        };
        let genuine = |outcome: &&Outcome| outcome.is_genuine();
        let fakes = |outcome: &&Outcome| !outcome.is_genuine() && !outcome.is_hidden();
        let given = |outcome: &&Outcome| outcome.verdict.kind.is_some();
        let kind_right = |outcome: &Outcome| outcome.verdict.kind == Some(outcome.fake.kind);
        let naive_right =
            |outcome: &Outcome| outcome.naive.kind == outcome.fake.kind && outcome.naive.size == outcome.fake.real;
        let claims = outcomes.iter().filter_map(|outcome| {
            Some((outcome.verdict.likely.first()?.1, kind_right(outcome))).filter(|_| outcome.verdict.kind.is_some())
        });
        Figures {
            accused: share(&genuine, &|outcome| outcome.verdict.kind.is_some_and(|kind| kind != Genuineness::Genuine)),
            cleared: share(&genuine, &kind_right),
            right: share(&fakes, &Outcome::is_right),
            to_the_block: share(&|outcome| fakes(outcome) && outcome.is_right(), &|outcome| {
                outcome.verdict.true_size.is_some_and(Between::is_exact)
            }),
            wrap: share(&|outcome| fakes(outcome) && kind_right(outcome) && outcome.fake.wrap.is_some(), &|outcome| {
                outcome.verdict.wrap == outcome.fake.wrap
            }),
            damage: share(&|outcome| fakes(outcome) && kind_right(outcome) && outcome.fake.damaged > 0.0, &|outcome| {
                let held = outcome.verdict.damaged;
                held.is_some_and(|share| (share.low..=share.high).contains(&outcome.fake.damaged))
            }),
            hidden: share(&|outcome| !outcome.is_genuine() && outcome.is_hidden(), &|outcome| {
                outcome.verdict.kind == Some(Genuineness::Genuine)
            }),
            wrong: share(&given, &|outcome| !kind_right(outcome)),
            calibration_error: calibration(claims).expected_error,
            most_written: outcomes.iter().map(|outcome| outcome.written).max().unwrap_or_default(),
            naive: share(&fakes, &naive_right),
            naive_accused: share(&genuine, &|outcome| outcome.naive.kind != Genuineness::Genuine),
        }
    }
}
