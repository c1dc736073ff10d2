//! Sweeps of knobs whose effects are known: what is there is found, what is not there is not.

use flashscope_experiment::sweep::{answers, conditions, decided, effects};
use flashscope_experiment::{Campaign, Settings};
use flashscope_model::comparison::{Better, Doubt, Metric, Verdict};
use flashscope_model::sweep::{Condition, Effect, Knob, KnobFinding, KnobPlace, Layout};
use flashscope_stats::Rng;

/// Scatter of a run, as a standard deviation of logarithms.
const SCATTER: f64 = 0.02;
/// What blocks have in common.
const SESSION: f64 = 0.15;

fn knob(name: &str, values: &[&str]) -> Knob {
    Knob {
        name: name.to_owned(),
        place: KnobPlace::Job,
        values: values.iter().map(|value| (*value).to_owned()).collect(),
        baseline: 0,
        before: None,
        paths: Vec::new(),
    }
}

struct Swept {
    campaign: Campaign,
    knobs: Vec<Knob>,
    layout: Layout,
    conditions: Vec<Condition>,
}

impl Swept {
    fn effects(&self) -> Vec<Effect> {
        let (readings, comparison) = (self.campaign.readings(), self.campaign.comparison());
        effects(&self.knobs, self.layout, &self.conditions, readings, &comparison, &Settings::default())
    }

    fn effect(&self, terms: &[(usize, usize)]) -> Effect {
        let is = |effect: &Effect| effect.terms.iter().map(|term| (term.knob, term.value)).eq(terms.iter().copied());
        self.effects().into_iter().find(is).unwrap()
    }

    fn finding(&self, knob: usize) -> KnobFinding {
        answers(self.knobs.len(), 1, &self.effects())[knob].finding
    }
}

/// Blocks until it is decided, at most 40; `log` is the truth, in logarithms, by the values of the knobs, `None` where the condition
/// cannot be had.
fn sweep(knobs: Vec<Knob>, layout: Layout, seed: u64, log: impl Fn(&[usize]) -> Option<f64>) -> Swept {
    let mut conditions = conditions(&knobs, layout).unwrap();
    for condition in &mut conditions {
        condition.ended = log(&condition.values).is_none().then(|| "refused".to_owned());
    }
    let sides = conditions.iter().map(|condition| condition.label.clone()).collect();
    let metric = Metric { name: "write rate".to_owned(), unit: "MB/s".to_owned(), better: Better::Higher };
    let campaign = Campaign::new(sides, vec![metric], Settings::default(), seed);
    let mut swept = Swept { campaign, knobs, layout, conditions };
    let mut rng = Rng::new(seed);
    for _ in 0..40 {
        let block = swept.campaign.next_block();
        let session = SESSION * rng.normal();
        let values: Vec<Vec<Option<f64>>> = block
            .iter()
            .enumerate()
            .map(|(place, slot)| {
                // A drift of a per mille per run, which the order of a block spreads over all conditions.
                let chance = SCATTER * rng.normal() + session + 0.001 * place as f64;
                vec![log(&swept.conditions[slot.side].values).map(|log| 20.0 * (log + chance).exp())]
            })
            .collect();
        swept.campaign.push(&block, &values);
        if decided(&swept.effects()) {
            break;
        }
    }
    swept
}

fn three() -> Vec<Knob> {
    vec![knob("a", &["1", "2"]), knob("b", &["1", "2", "3"]), knob("c", &["1", "2"])]
}

#[test]
fn a_factorial_finds_the_effects_and_the_interaction_that_are_there() {
    // a=2: +8 %; b=3: −6 %; c nothing; a=2 with b=3 a further 10 %.
    let truth = |values: &[usize]| {
        let (a, b) = (values[0] == 1, values[1] == 2);
        Some(0.08 * f64::from(a) - 0.06 * f64::from(b) + 0.10 * f64::from(a && b))
    };
    let swept = sweep(three(), Layout::Factorial, 3, truth);
    assert!(swept.campaign.blocks() <= 20, "{}", swept.campaign.blocks());
    // Averaged over the values of b, a third of the interaction belongs to a; half of it to b=3.
    let check = |terms: &[(usize, usize)], log: f64, verdict: Verdict| {
        let effect = swept.effect(terms);
        let (low, high) = effect.ratio.unwrap().interval.unwrap();
        assert!(low.ln() < log && log < high.ln(), "{terms:?} {effect:?}");
        assert_eq!(effect.verdict, verdict, "{terms:?} {effect:?}");
    };
    check(&[(0, 1)], 0.08 + 0.10 / 3.0, Verdict::Better);
    check(&[(1, 1)], 0.0, Verdict::Equivalent);
    check(&[(1, 2)], -0.01, Verdict::Equivalent);
    check(&[(2, 1)], 0.0, Verdict::Equivalent);
    check(&[(0, 1), (1, 2)], 0.10, Verdict::Better);
    assert_ne!(swept.effect(&[(0, 1), (2, 1)]).verdict, Verdict::Better);
    assert_eq!(swept.effects().len(), 2 * 3 * 2 - 1, "each contrast once");
    assert!(matches!(swept.finding(0), KnobFinding::Better { value: 1, .. }));
    assert_eq!(swept.finding(2), KnobFinding::NoDifference);
}

#[test]
fn one_at_a_time_is_the_comparison_with_the_baseline() {
    let truth = |values: &[usize]| Some([0.0, 0.10][values[0]] + [0.0, -0.12, -0.20][values[1]]);
    let swept = sweep(three(), Layout::OneAtATime, 5, truth);
    assert_eq!(swept.conditions.len(), 5);
    assert!(
        matches!(swept.finding(0), KnobFinding::Better { value: 1, ratio } if (ratio.value.ln() - 0.10).abs() < 0.04)
    );
    assert!(matches!(swept.finding(1), KnobFinding::Worse { value: 2, .. }), "the one that loses most");
    assert_eq!(swept.finding(2), KnobFinding::NoDifference);
}

#[test]
fn a_condition_that_cannot_be_had_costs_its_effects_alone() {
    let truth = |values: &[usize]| (values[1] != 2).then(|| 0.15 * f64::from(values[0] == 1));
    for layout in [Layout::OneAtATime, Layout::Factorial] {
        let swept = sweep(three(), layout, 7, truth);
        assert!(swept.campaign.blocks() < 40, "it stops though a question stays open");
        assert_eq!(swept.effect(&[(1, 2)]).verdict, Verdict::CannotTell(Doubt::Missing));
        assert!(
            matches!(swept.finding(0), KnobFinding::Better { value: 1, ratio } if (ratio.value.ln() - 0.15).abs() < 0.04)
        );
        assert_eq!(swept.finding(1), KnobFinding::NoDifference, "of the values that there are");
        assert_eq!(swept.finding(2), KnobFinding::NoDifference);
    }
}

#[test]
fn where_nothing_is_there_nothing_is_found() {
    // Of 60 sweeps, each a family of its own at 5 %, more than 8 with a false verdict would come by chance once in 1000.
    let mut false_ones = 0;
    for seed in 0..60 {
        let swept =
            sweep(vec![knob("a", &["1", "2"]), knob("b", &["1", "2"])], Layout::Factorial, 100 + seed, |_| Some(0.0));
        let mains = swept.effects().into_iter().filter(|effect| effect.terms.len() == 1);
        false_ones +=
            u32::from(mains.into_iter().any(|effect| matches!(effect.verdict, Verdict::Better | Verdict::Worse)));
    }
    assert!(false_ones <= 8, "{false_ones}");
}
