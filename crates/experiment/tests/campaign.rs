//! Verdicts while runs are done: right, early, and withheld where the baseline differs from itself.

use flashscope_experiment::{Campaign, Settings, Slot};
use flashscope_model::comparison::{Better, Doubt, Method, Metric, Verdict};
use flashscope_stats::Rng;

fn metrics(count: usize) -> Vec<Metric> {
    let metric = |number| Metric { name: format!("m{number}"), unit: "MB/s".to_owned(), better: Better::Higher };
    (0..count).map(metric).collect()
}

fn campaign(sides: usize, figures: usize, seed: u64) -> Campaign {
    let sides = (0..sides).map(|side| format!("s{side}")).collect();
    Campaign::new(sides, metrics(figures), Settings::default(), seed)
}

/// Runs blocks until it is decided, at most 40; what a run gives is worked out from its slot, its place and chance.
fn run(campaign: &mut Campaign, rng: &mut Rng, of: impl Fn(&Slot, usize, f64) -> Vec<Option<f64>>) {
    for _ in 0..40 {
        let block = campaign.next_block();
        let values: Vec<Vec<Option<f64>>> =
            block.iter().enumerate().map(|(place, slot)| of(slot, place, scatter(rng))).collect();
        campaign.push(&block, &values);
        if campaign.decided() {
            return;
        }
    }
}

/// Near normal, standard deviation 1.
fn scatter(rng: &mut Rng) -> f64 {
    (0..12).map(|_| rng.unit()).sum::<f64>() - 6.0
}

#[test]
fn a_difference_and_its_absence_are_found_early() {
    let mut rng = Rng::new(3);
    let mut apart = campaign(2, 1, 1);
    run(&mut apart, &mut rng, |slot, place, chance| {
        // A drift of 1 % per run, which each block cancels out.
        vec![Some(20.0 * (0.1 * slot.side as f64 + 0.02 * chance + 0.01 * place as f64).exp())]
    });
    let comparison = apart.comparison();
    assert_eq!((comparison.rows[0].verdict, comparison.method), (Verdict::Better, Method::Sequence));
    assert!(apart.blocks() <= 12, "{}", apart.blocks());
    let (low, high) = comparison.rows[0].ratio.unwrap().interval.unwrap();
    assert!(low < 0.1f64.exp() && 0.1f64.exp() < high);
    assert!(!comparison.control.unwrap().fails());

    let mut alike = campaign(2, 1, 2);
    run(&mut alike, &mut rng, |_, _, chance| vec![Some(20.0 * (0.02 * chance).exp())]);
    assert_eq!(alike.comparison().rows[0].verdict, Verdict::Equivalent);
    assert!(alike.blocks() <= 15, "{}", alike.blocks());
}

#[test]
fn a_baseline_that_differs_from_itself_withholds_all() {
    let mut rng = Rng::new(4);
    let mut campaign = campaign(2, 2, 1);
    run(&mut campaign, &mut rng, |slot, _, chance| {
        let replica = if slot.side == 0 { 0.2 * slot.replica as f64 } else { 0.0 };
        vec![Some((0.02 * chance + replica).exp()), Some((0.02 * chance).exp())]
    });
    let comparison = campaign.comparison();
    assert!(comparison.control.unwrap().fails());
    assert!(comparison.rows.iter().all(|row| row.verdict == Verdict::CannotTell(Doubt::Withheld)));
}

#[test]
fn several_sides_and_figures_are_told_apart() {
    let mut rng = Rng::new(5);
    let mut campaign = campaign(3, 2, 9);
    run(&mut campaign, &mut rng, |slot, _, chance| {
        let effect = [0.0, 0.3, 0.0][slot.side];
        vec![Some((0.02 * chance - effect).exp()), Some((0.02 * chance).exp())]
    });
    let comparison = campaign.comparison();
    let verdict = |metric, side| {
        comparison.rows.iter().find(|row| (row.metric, row.side) == (metric, side)).map(|row| row.verdict).unwrap()
    };
    assert_eq!(verdict(0, 1), Verdict::Worse);
    for (metric, side) in [(0, 2), (1, 1), (1, 2)] {
        assert_eq!(verdict(metric, side), Verdict::Equivalent, "{metric} {side}");
    }
    assert_eq!(comparison.comparisons, 4);
}

#[test]
fn lost_runs_and_odd_values_do_no_harm() {
    let mut rng = Rng::new(6);
    let mut campaign = campaign(2, 2, 1);
    for number in 0..10 {
        let block = campaign.next_block();
        let values: Vec<Vec<Option<f64>>> = block
            .iter()
            .map(|slot| {
                let lost = number == 3 && slot.side == 1;
                vec![(!lost).then(|| 5.0 + 0.01 * scatter(&mut rng)), Some(if number == 4 { 0.0 } else { 1.0 })]
            })
            .collect();
        campaign.push(&block, &values);
    }
    let comparison = campaign.comparison();
    // The block with lost runs does not count, and everything that came is kept.
    assert_eq!(comparison.rows[0].baseline.unwrap().counts.blocks, 9);
    assert_eq!(comparison.rows[0].verdict, Verdict::Equivalent);
    assert_eq!(comparison.rows[1].verdict, Verdict::CannotTell(Doubt::NotPositive));
    assert_eq!(campaign.readings().rows.len(), 78);
}
