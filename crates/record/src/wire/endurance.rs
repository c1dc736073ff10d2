//! The section of passes over a whole device: limits, every pass, milestones, the forecast, and what became of data left alone.

use super::capacity::Totals;
use super::device::Health;
use crate::mirror::{mirror, words};
use flashscope_model::endurance as model;

mirror! {
    /// What passes over a whole device came to. A capacity-write is as many bytes as the device holds.
    Endurance of model::Endurance {
        /// What was asked for.
        plan: EndurancePlan = plan,
        /// The device's registers before the first pass; null where it has none.
        registers_before: Option<Health> = registers,
        /// Every pass, in order; the last one may be cut short.
        passes: Vec<EndurancePass> = passes,
        /// Why the passes ended.
        end: EnduranceEnd = end,
        /// Milestones that were reached, in order.
        milestones: Vec<MilestoneReached> = milestones,
        /// When the first error comes, or came.
        forecast: Forecast = forecast,
        /// What became of the data of the last pass while they were left alone; null where they were not read again.
        retention: Option<Retention> = retention,
        /// How often it was begun: one more than it was stopped.
        sessions: u32 = sessions,
    }

    /// What was asked for.
    EndurancePlan of model::EndurancePlan {
        /// The order of every pass follows from it.
        seed: u64 = seed,
        /// Size of the device.
        claimed_bytes: u64 = claimed,
        /// Size of a request.
        request_bytes: u64 = request,
        /// It ends after so many passes; null: as many as it takes.
        most_passes: Option<u32> = most_passes,
        /// It ends when this is reached; null where nothing was asked for.
        until: Option<Milestone> = until,
        /// It ends when this share of the rated life is spent; null where none was set.
        life_limit: Option<LifeLimit> = limit,
        /// The data of the last pass are read again after this time; null: they are not.
        reread_after_ns: Option<u64> = reread_after,
    }

    /// How much of the rated life may be spent.
    LifeLimit of model::LifeLimit {
        /// Share of it; above 1 past the rated life.
        share_ratio: f64 = share,
        /// What the device is rated for.
        rated_bytes: u64 = rated,
        /// Who says so.
        rating: Rating = rating,
    }

    /// One pass: every block written in shuffled parts, and read back.
    EndurancePass of model::Pass {
        /// Counted from 1.
        number: u32 = number,
        /// What was written, whether it failed or not.
        written_bytes: u64 = written,
        /// What was read, whether it failed or not.
        read_bytes: u64 = read,
        /// Time of the writes to parts without an error; null where there is no such part.
        write_time_ns: Option<u64> = write_time,
        /// What was written in that time.
        write_timed_bytes: u64 = write_timed,
        /// Time of the reads of parts without an error; null where there is no such part.
        read_time_ns: Option<u64> = read_time,
        /// What was read in that time.
        read_timed_bytes: u64 = read_timed,
        /// What came back.
        totals: Totals = totals,
        /// The first address that does not hold what was written there; null where all do.
        first_bad_bytes: Option<u64> = first_bad,
        /// The device's registers after the pass; null where it has none.
        registers: Option<Health> = registers,
        /// Whether the pass came to its end.
        whole: bool = whole,
    }

    /// A milestone that was reached.
    MilestoneReached of model::Reached {
        /// Which.
        milestone: Milestone = milestone,
        /// In which pass, from 1.
        pass: u32 = pass,
        /// What was written until the end of that pass.
        written_bytes: u64 = written,
        /// The same over the capacity.
        capacity_writes: f64 = capacity_writes,
    }

    /// Why the passes ended.
    EnduranceEnd of model::End {
        /// In a word.
        kind: EndKind = kind,
        /// What else is known of it; null where nothing is.
        why: Option<String> = why,
    }

    /// When the first error comes, in capacity-writes since the test began.
    Forecast of model::Forecast {
        /// What it rests on.
        basis: ForecastBasis = basis,
        /// As likely before as after; null: cannot tell.
        capacity_writes: Option<f64> = capacity_writes,
        /// Lower end of the 90 % interval; where nothing can be told, what went without an error.
        capacity_writes_low: f64 = low,
        /// Upper end of the 90 % interval; null: cannot tell.
        capacity_writes_high: Option<f64> = high,
        /// The evidence in a sentence.
        evidence: String = evidence,
    }

    /// What became of data that were left alone.
    Retention of model::Retention {
        /// How long they were to be left alone.
        asked_ns: u64 = asked,
        /// How long they were.
        kept_for_ns: u64 = kept_for,
        /// What came back.
        totals: Totals = totals,
        /// What came back right at the end of the last pass, and does not any more; at least this.
        lost_bytes: u64 = lost,
        /// Whether all of it was read.
        whole: bool = whole,
    }
}

words! {
    /// Who says what a device is rated for.
    Rating mirrors model::Rating {
        /// The operator, from the data sheet.
        Given,
        /// Nobody: the fewest capacity-writes that data sheets rate such devices for.
        Assumed,
    }
}

words! {
    /// How much of a device is bad.
    Milestone mirrors model::Milestone {
        /// The first sector.
        FirstError,
        /// One in a thousand.
        Permille,
        /// 10 %.
        Tenth,
        /// 25 %.
        Quarter,
        /// 50 %.
        Half,
    }
}

words! {
    /// Why the passes ended.
    EndKind mirrors model::EndKind {
        /// As many were done as were asked for.
        Passes,
        /// The milestone that was asked for was reached.
        Until,
        /// The share of the rated life was spent.
        Life,
        /// What may be written was used up.
        Budget,
        /// The operator stopped it.
        Stopped,
        /// The device takes no writes any more, and can be read.
        ReadOnly,
        /// The device takes no writes any more, nor can it be read.
        Failing,
        /// The device went away or did not answer.
        Gone,
        /// The device has another capacity.
        Shrunk,
        /// A fault of flashscope itself.
        Internal,
    }
}

words! {
    /// What a forecast of the first error rests on.
    ForecastBasis mirrors model::Basis {
        /// It came.
        Seen,
        /// Spare blocks go.
        Spare,
        /// The registers of life used move.
        Life,
        /// Nothing moves: cannot tell.
        Nothing,
    }
}
