//! What a knob comes to, and when everything is known.

use crate::campaign::all_told;
use flashscope_model::comparison::{Doubt, Verdict};
use flashscope_model::sweep::{Answer, Effect, KnobFinding};

/// What each of so many knobs does to each of so many figures.
pub fn answers(knobs: usize, metrics: usize, effects: &[Effect]) -> Vec<Answer> {
    let answer = |knob, metric| {
        // A value that was never measured says nothing, and takes nothing from what the others say.
        let measured = |effect: &&Effect| effect.verdict != Verdict::CannotTell(Doubt::Missing);
        let own: Vec<&Effect> =
            effects.iter().filter(|effect| is_main(effect, knob, metric)).filter(measured).collect();
        Answer { knob, metric, finding: finding(&own) }
    };
    (0..metrics).flat_map(|metric| (0..knobs).map(move |knob| (knob, metric))).map(|(k, m)| answer(k, m)).collect()
}

/// Whether no further block would change what the knobs come to. What values do together is told as far as it is known by then.
pub fn decided(effects: &[Effect]) -> bool {
    let mut mains = effects.iter().filter(|effect| effect.terms.len() == 1).map(|effect| effect.verdict).peekable();
    mains.peek().is_some() && all_told(mains)
}

fn is_main(effect: &Effect, knob: usize, metric: usize) -> bool {
    effect.metric == metric && matches!(effect.terms[..], [term] if term.knob == knob)
}

fn finding(own: &[&Effect]) -> KnobFinding {
    // The one that is furthest from the baseline, among those with a verdict.
    let furthest = |verdict: Verdict| {
        let told = own.iter().filter(|effect| effect.verdict == verdict);
        let found = told.filter_map(|effect| Some((effect.terms[0].value, effect.ratio?)));
        found.max_by(|a, b| a.1.value.ln().abs().total_cmp(&b.1.value.ln().abs()))
    };
    if let Some((value, ratio)) = furthest(Verdict::Better) {
        return KnobFinding::Better { value, ratio };
    }
    if let Some((value, ratio)) = furthest(Verdict::Worse) {
        return KnobFinding::Worse { value, ratio };
    }
    let doubts: Vec<Doubt> = own
        .iter()
        .filter_map(|effect| match effect.verdict {
            Verdict::CannotTell(doubt) => Some(doubt),
            _ => None,
        })
        .collect();
    // Of several that are open, the one that needs most.
    let open = |doubt: &Doubt| match doubt {
        Doubt::Open { more } => Some(more.unwrap_or(u32::MAX)),
        _ => None,
    };
    match doubts.iter().filter(|doubt| open(doubt).is_some()).max_by_key(|doubt| open(doubt)).or(doubts.first()) {
        Some(doubt) => KnobFinding::CannotTell(*doubt),
        None if own.is_empty() => KnobFinding::CannotTell(Doubt::Missing),
        None => KnobFinding::NoDifference,
    }
}
