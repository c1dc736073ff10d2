//! The part of an explanation: two devices, a workload, and the difference of its times shared out.

use crate::mirror::{mirror, part, words};
use crate::wire::TraceSource;
use flashscope_model::explanation as model;

part! {
    /// Why one device takes longer than another for a workload.
    ExplanationPart of model::ExplanationRecord as [Explanation] {
        /// The first device.
        side_a: ExplainedSide = a,
        /// The second one.
        side_b: ExplainedSide = b,
        /// Where the workload came from.
        trace: TraceSource = source,
        /// What was replayed.
        workload: ReplayedWorkload = workload,
        /// How much longer B takes; negative where it takes less.
        difference: SharedTime = difference,
        /// What comes of it.
        verdict: ExplainedVerdict = verdict,
        /// What each group of parameters adds to the difference, the largest first.
        shares: Vec<ExplainedShare> = shares,
        /// Groups that have no share.
        without_share: Vec<GroupWithoutShare> = screened,
        /// How it was worked out.
        method: ExplainedBy = method,
        /// What must be known of it.
        notes: Vec<String> = notes,
    }
}

mirror! {
    /// One of the two devices.
    ExplainedSide of model::Side {
        /// As typed.
        name: String = name,
        /// The model that stands for it (TOML).
        model_toml: String = model,
        /// How well that fits, where it was fitted to a record; null where it is the model that was named.
        twin: Option<ExplainedTwin> = twin,
        /// How long the workload takes, one time for each seed.
        times_ns: Vec<u64> = times,
    }

    /// How well a fitted model stands for its device.
    ExplainedTwin of model::Twin {
        /// Share of the measured figures that it gives within 15 %.
        within_15_percent_ratio: f64 = within,
        /// How often it was inspected itself, and a twin fitted to that.
        refits: u32 = refits,
    }

    /// What was replayed on every device.
    ReplayedWorkload of model::Workload {
        /// Requests of the trace.
        requests: u64 = requests,
        /// What they read.
        read_bytes: u64 = read,
        /// What they write.
        written_bytes: u64 = written,
        /// What was changed of them.
        changes: Vec<String> = changes,
    }

    /// A length of time that may be negative, with its interval of 95 %.
    SharedTime of model::Gap {
        /// The best guess.
        time_ns: f64 = time_ns,
        /// Lower end.
        time_ns_low: f64 = low_ns,
        /// Upper end.
        time_ns_high: f64 = high_ns,
    }

    /// What some parameters add to the difference.
    ExplainedShare of model::Share {
        /// The groups of parameters: one, or several that have no meaning without each other.
        groups: Vec<ParameterGroup> = groups,
        /// The Shapley value.
        share: SharedTime = gap,
        /// What exchanging only these parameters of A for those of B adds.
        alone_ns: f64 = alone_ns,
        /// Whether its interval leaves out 0, and it is at least 0.5 % of A's time.
        told: bool = told,
        /// What differs.
        parameters: Vec<ParameterChange> = changes,
    }

    /// What a group of parameters is called.
    ParameterGroup of model::GroupName {
        /// Its name.
        name: String = name,
        /// By people.
        words: String = words,
    }

    /// A group without a share.
    GroupWithoutShare of model::Screened {
        /// The group.
        group: ParameterGroup = group,
        /// What differs; empty where A and B are the same in it. Otherwise its exchange changes nothing.
        parameters: Vec<ParameterChange> = changes,
    }

    /// One parameter that differs.
    ParameterChange of model::Change {
        /// Its path in a model file.
        path: String = path,
        /// Its value in A; null where A has no such part.
        a: Option<String> = a,
        /// Its value in B; null where B has no such part.
        b: Option<String> = b,
    }

    /// How shares were worked out.
    ExplainedBy of model::Method {
        /// Orders of exchange that were sampled; null where all hybrids were replayed, and shares are exact.
        orders: Option<u32> = orders,
        /// Hybrids that were replayed, the two devices included.
        hybrids: u32 = hybrids,
        /// Replays altogether.
        replays: u32 = replays,
        /// Seeds that each hybrid was replayed with.
        seeds: u32 = seeds,
        /// Pairs of other twins of the same devices that were explained as well.
        refits: u32 = refits,
        /// What all seeds follow from.
        seed: u64 = seed,
        /// Whether the time was over before all that was set out was done.
        cut_short: bool = cut_short,
    }
}

words! {
    /// Which of the two takes longer.
    ExplainedVerdict mirrors model::Verdict {
        /// B takes longer.
        Longer,
        /// B takes less time.
        Shorter,
        /// They differ by less than 0.5 % of A's time.
        Same,
        /// The difference lies within the noise, or within what is not known of the twins.
        CannotTell,
    }
}
