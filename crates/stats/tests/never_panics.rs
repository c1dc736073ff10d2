//! Whatever the numbers, the answer is a value or an error: no panic, no endless loop.

use flashscope_stats::Rng;
use flashscope_stats::change::{ChangeSettings, Penalty, biweight_changes, difference_noise, level_shifts, pelt};
use flashscope_stats::interval::*;
use flashscope_stats::levels::{LevelSettings, find_levels};
use flashscope_stats::line::{ordinary_least_squares, weighted_least_squares};
use flashscope_stats::location::*;
use flashscope_stats::mixture::{MixtureSettings, fit_mixture};
use flashscope_stats::posterior::{log_sum_exp, normalise_log};
use flashscope_stats::sequential::ConfidenceSequence;
use flashscope_stats::steady::steady_state;
use flashscope_stats::test::*;
use proptest::prelude::*;

/// Ordinary, tied, extreme and impossible numbers.
fn number() -> impl Strategy<Value = f64> {
    prop_oneof![
        6 => -1e3f64..1e3,
        4 => (-3i8..4).prop_map(f64::from),
        1 => any::<f64>(),
        1 => prop::sample::select(vec![f64::MAX, f64::MIN, f64::MIN_POSITIVE, f64::EPSILON, -0.0]),
    ]
}

fn sample() -> impl Strategy<Value = Vec<f64>> {
    prop_oneof![
        4 => prop::collection::vec(-1e3f64..1e3, 0..40),
        3 => prop::collection::vec((1i8..4).prop_map(f64::from), 0..40),
        3 => prop::collection::vec(number(), 0..40),
    ]
}

fn unit() -> impl Strategy<Value = f64> {
    prop_oneof![8 => 0.0f64..1.0, 1 => number()]
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn one_sample(x in sample(), p in unit(), level in unit()) {
        for f in [median, mad_raw, mad, hodges_lehmann, qn_scale] {
            let _ = f(&x);
        }
        let _ = (quantile(&x, p), trimmed_mean(&x, p), log_sum_exp(&x), normalise_log(&x));
        let _ = (quantile_interval(&x, p, level), hodges_lehmann_interval(&x, level));
        let mut rng = Rng::new(1);
        let settings = Bootstrap { resamples: 25, confidence: level };
        let _ = bca_bootstrap(&x, median, settings, &mut rng);
        let _ = moving_block_bootstrap(&x, default_block_length(x.len()), median, settings, &mut rng);
        let _ = (wilcoxon_signed_rank(&x, Alternative::TwoSided), spearman_trend(&x, Alternative::Less));
        let _ = (holm(&x), benjamini_hochberg(&x), steady_state(&x));
    }

    #[test]
    fn two_samples(x in sample(), y in sample(), margin in number(), alpha in unit()) {
        let _ = (hodges_lehmann_shift(&x, &y), shift_interval(&x, &y, alpha), median_ratio_interval(&x, &y, alpha));
        for alternative in [Alternative::TwoSided, Alternative::Greater, Alternative::Less] {
            for p in [
                mann_whitney(&x, &y, alternative).map(|t| t.p_value),
                welch_t(&x, &y, alternative).map(|t| t.p_value),
                spearman(&x, &y, alternative).map(|t| t.p_value),
            ].into_iter().flatten() {
                prop_assert!((0.0..=1.0).contains(&p), "{p}");
            }
        }
        let _ = (tost_log_ratio(&x, &y, margin, alpha), tost_log_ratio_ranked(&x, &y, margin, alpha));
        let _ = cliffs_delta(&x, &y);
        let _ = (ordinary_least_squares(&x, &y), weighted_least_squares(&x, &y, &y));
        let short = x.len().min(y.len());
        let _ = ordinary_least_squares(&x[..short], &y[..short]);
    }

    #[test]
    fn structure(x in sample(), setting in unit(), length in 0usize..6) {
        for penalty in [Penalty::Bic, Penalty::Mbic, Penalty::PerChange(setting)] {
            for noise_sd in [None, Some(setting)] {
                let settings = ChangeSettings { penalty, noise_sd };
                for found in [pelt(&x, length, settings), biweight_changes(&x, settings)].into_iter().flatten() {
                    prop_assert_eq!(found.starts[0], 0);
                    prop_assert!(found.starts.is_sorted() && found.segments(&x).is_ok());
                }
            }
        }
        for shift in level_shifts(&x, setting).map_or(Vec::new(), |found| found.shifts) {
            prop_assert!(shift.earliest <= shift.start && shift.start <= shift.latest && shift.latest < x.len());
        }
        let _ = difference_noise(&x);
        let _ = fit_mixture(&x, MixtureSettings { max_components: length, sd_floor: setting });
    }

    #[test]
    fn levels(
        groups in prop::collection::vec(prop::collection::vec(number(), 1..6), 0..8), odds in unit(), out in unit(),
    ) {
        let settings = LevelSettings {
            max_levels: 4,
            prior_odds: odds,
            min_groups: 1,
            confidence: 0.9,
            noise_floor: 0.0,
            outlier_probability: 0.5 * out,
            scatter: vec![0.0, 1.0],
        };
        if let Ok(found) = find_levels(&groups, &settings) {
            prop_assert!((found.last_start_probability.iter().sum::<f64>() - 1.0).abs() < 1e-6);
            prop_assert_eq!(found.levels.iter().map(|l| l.groups.len()).sum::<usize>(), groups.len());
        }
    }

    #[test]
    fn sequences(x in sample(), low in number(), high in number(), level in unit()) {
        if let Ok(mut sequence) = ConfidenceSequence::new(low, high, level) {
            for value in &x {
                let _ = sequence.push(*value);
            }
        }
    }
}
