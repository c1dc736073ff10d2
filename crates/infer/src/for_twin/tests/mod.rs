//! Requests stay inside the device, and what is written is what is said.

use super::*;
use crate::tests::of_size;
use flashscope_model::DeviceKind;

fn card(capacity: Bytes) -> DeviceFacts {
    DeviceFacts { kind: DeviceKind::SdCard, ..of_size(capacity) }
}

fn parts(device: &DeviceFacts, unit: Bytes) -> Vec<PatternPart> {
    let choices = Places::with(device, unit, Bytes::ZERO).map_or_else(Vec::new, |places| places.choices());
    let patterns = choices.into_iter().flat_map(|choice| match choice.experiment {
        Experiment::Patterns(plan) => plan.patterns,
        other => panic!("{other:?}"),
    });
    patterns.flat_map(|pattern| pattern.parts).collect()
}

#[test]
fn all_requests_stay_inside_the_device_whatever_a_unit_is() {
    for capacity in [448, 512, 1000, 7580].map(Bytes::mib) {
        for unit in [1, 3, 4, 24, 64].map(Bytes::mib) {
            let all = parts(&card(capacity), unit);
            assert!(all.iter().all(|part| part.start + part.length <= capacity), "{capacity} {unit}");
            assert!(!all.is_empty() || capacity < unit * 16, "{capacity} {unit}");
        }
    }
}

#[test]
fn too_small_a_device_is_left_alone() {
    assert!(parts(&card(Bytes::mib(16)), Bytes::mib(4)).is_empty());
    assert_eq!(most_for_twin(&card(Bytes::mib(16))), Bytes::ZERO);
}

/// What `inspect` may write is enlarged by this much.
#[test]
fn a_large_device_is_written_no_more_than_is_said() {
    assert!(most_for_twin(&card(Bytes::gib(64))) <= Bytes::mib(224));
}

/// Whoever fits a twin tells by this what is held out.
#[test]
fn only_the_last_patterns_mix_kinds_of_requests() {
    let places = Places::with(&card(Bytes::gib(8)), Bytes::mib(4), Bytes::ZERO).expect("room");
    let mixed: Vec<bool> = places
        .choices()
        .iter()
        .map(|choice| match &choice.experiment {
            Experiment::Patterns(plan) => plan.patterns.iter().all(Pattern::is_mixed),
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(mixed, [false, false, false, false, true]);
}
