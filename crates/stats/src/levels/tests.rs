//! Planted levels come back, with honest probabilities.

use super::*;
use crate::Rng;
use crate::simulate::{close, normals};

fn settings() -> LevelSettings {
    LevelSettings {
        max_levels: 4,
        prior_odds: 0.3,
        min_groups: 1,
        confidence: 0.95,
        noise_floor: 0.0,
        outlier_probability: 0.01,
        scatter: Vec::new(),
    }
}

fn most_probable_count(found: &Levels) -> usize {
    1 + argmax(&found.count_probability)
}

fn groups(rng: &mut Rng, levels: &[f64], sd: f64) -> Vec<Vec<f64>> {
    levels.iter().map(|&level| normals(rng, 9, level, sd)).collect()
}

#[test]
fn clear_steps_are_certain() {
    let mut rng = Rng::new(151);
    let truth = [0.0, 0.0, 0.0, 4.0, 4.0, 4.0, 4.0, 10.0, 10.0, 10.0];
    let found = find_levels(&groups(&mut rng, &truth, 0.5), &settings()).unwrap();
    assert_eq!(most_probable_count(&found), 3);
    assert_eq!(found.levels.iter().map(|l| l.groups.clone()).collect::<Vec<_>>(), [0..3, 3..7, 7..10]);
    for (level, want) in found.levels.iter().zip([0.0, 4.0, 10.0]) {
        close(level.location, want, 0.4);
        assert!(level.interval.low < level.location && level.location < level.interval.high);
    }
    assert!(found.last_start_probability[7] > 0.95 && found.highest_start_probability[7] > 0.95);
    assert!(found.step_positions[0][3] > 0.95 && found.step_positions[1][7] > 0.95);
    for sums in [&found.count_probability, &found.last_start_probability, &found.highest_start_probability] {
        close(sums.iter().sum(), 1.0, 1e-9);
    }
    close(found.start_probability[0], 1.0, 1e-9);
}

#[test]
fn no_step_is_one_level() {
    let mut rng = Rng::new(152);
    let mut single = 0;
    for _ in 0..40 {
        let found = find_levels(&groups(&mut rng, &[2.0; 12], 1.0), &settings()).unwrap();
        single += u32::from(most_probable_count(&found) == 1);
    }
    assert!(single >= 36, "{single} of 40");
}

#[test]
fn a_lone_group_is_an_outlier_and_not_a_level() {
    let mut rng = Rng::new(153);
    let truth = [1.0, 1.0, 1.0, 7.0, 1.0, 1.0, 4.0, 4.0, 4.0, 4.0];
    let strict = LevelSettings { min_groups: 2, ..settings() };
    let found = find_levels(&groups(&mut rng, &truth, 0.5), &strict).unwrap();
    assert_eq!(found.levels.iter().map(|l| l.groups.clone()).collect::<Vec<_>>(), [0..6, 6..10]);
    assert!(found.outlier_probability[3] > 0.95, "{:?}", found.outlier_probability);
    assert!(found.outlier_probability[8] < 0.05);
    assert!(found.last_start_probability[6] > 0.9);
}

#[test]
fn scatter_beyond_the_noise_is_not_taken_for_steps() {
    let mut rng = Rng::new(154);
    let (mut naive, mut averaged) = (0.0, 0.0);
    for _ in 0..20 {
        // Noise 0.05 within a group, but groups of one level differ by 0.4.
        let truth: Vec<f64> = (0..12).map(|i| if i < 6 { 0.0 } else { 3.0 } + 0.4 * rng.normal()).collect();
        let data = groups(&mut rng, &truth, 0.05);
        let wide = LevelSettings { scatter: vec![0.0, 0.1, 0.2, 0.4, 0.8], outlier_probability: 0.0, ..settings() };
        naive += find_levels(&data, &settings()).unwrap().last_start_probability[6] / 20.0;
        let found = find_levels(&data, &wide).unwrap();
        averaged += found.last_start_probability[6] / 20.0;
        assert!(found.scatter_probability[0] < 0.1);
    }
    assert!(averaged > 0.8 && naive < 0.6, "{averaged} against {naive}");
}

/// Draws from the prior of the model and compares what is announced with what is true.
#[test]
fn probabilities_are_calibrated() {
    let mut rng = Rng::new(155);
    // Per decile of the announced probability: number, sum announced, number true.
    let mut last = [(0u32, 0.0, 0u32); 10];
    let mut any = last;
    let mut count_right = (0.0, 0u32);
    let even = LevelSettings { max_levels: 3, prior_odds: 1.0, ..settings() };
    let runs = 500;
    for _ in 0..runs {
        let n = 6 + rng.below(6);
        let shapes = segmentations::enumerate(n, 3, 1, 1.0).unwrap();
        let levels = 1 + rng.below(3);
        let fitting: Vec<_> = shapes.iter().filter(|s| s.starts.len() == levels).collect();
        let starts = &fitting[rng.below(fitting.len())].starts;
        let heights: Vec<f64> = (0..levels).map(|_| 4.0 * rng.unit()).collect();
        let truth: Vec<f64> = (0..n).map(|i| heights[starts.partition_point(|&s| s <= i) - 1]).collect();
        let found = find_levels(&groups(&mut rng, &truth, 1.0), &even).unwrap();
        for i in 0..n {
            note(&mut last, found.last_start_probability[i], starts[levels - 1] == i);
            if i > 0 {
                note(&mut any, found.start_probability[i], starts.contains(&i));
            }
        }
        count_right.0 += found.count_probability[levels - 1];
        count_right.1 += u32::from(most_probable_count(&found) == levels);
    }
    for (number, announced, right) in last.into_iter().chain(any).filter(|bin| bin.0 >= 60) {
        let (number, right) = (f64::from(number), f64::from(right));
        close(right / number, announced / number, 0.04 + 1.5 * (0.25 / number).sqrt());
    }
    assert!(f64::from(count_right.1) > 0.6 * f64::from(runs), "{count_right:?}");
}

fn note(bins: &mut [(u32, f64, u32); 10], announced: f64, right: bool) {
    let bin = &mut bins[((announced * 10.0) as usize).min(9)];
    bin.0 += 1;
    bin.1 += announced;
    bin.2 += u32::from(right);
}

#[test]
fn thirty_two_groups_of_many_samples() {
    let mut rng = Rng::new(156);
    let data: Vec<Vec<f64>> = (0..32).map(|i| normals(&mut rng, 200, if i < 20 { 5.0 } else { 5.5 }, 0.5)).collect();
    let found = find_levels(&data, &settings()).unwrap();
    assert_eq!(argmax(&found.highest_start_probability), 20);
    assert_eq!(found.levels.len(), 2);
}

#[test]
fn noiseless_and_degenerate_input() {
    let found = find_levels(&[[1.0, 1.0], [1.0, 1.0], [2.0, 2.0], [2.0, 2.0]], &settings()).unwrap();
    assert_eq!(found.levels.iter().map(|l| l.groups.clone()).collect::<Vec<_>>(), [0..2, 2..4]);
    let flat = find_levels(&[[3.0], [3.0], [3.0]], &settings()).unwrap();
    assert_eq!(flat.levels.len(), 1);
    assert_eq!(find_levels(&[[3.0]], &settings()).unwrap().count_probability, [1.0]);
    assert!(find_levels::<Vec<f64>>(&[], &settings()).is_err());
    assert!(find_levels(&[[f64::NAN]], &settings()).is_err());
    assert!(find_levels(&[[1.0]], &LevelSettings { outlier_probability: 0.5, ..settings() }).is_err());
    assert!(find_levels(&[[1.0]], &LevelSettings { scatter: vec![-1.0], ..settings() }).is_err());
}
