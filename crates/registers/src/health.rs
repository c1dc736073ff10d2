//! What registers of wear say, for every source of them: EXT_CSD, sysfs, UFS.

use flashscope_model::Health;

/// The estimates of eMMC and UFS as the registers have them: life time A and B, pre-end-of-life. 0 is "not defined", and absent; so is a
/// value that is reserved. `None` where none is defined.
pub fn estimates(life_time_a: u8, life_time_b: u8, pre_end_of_life: u8) -> Option<Health> {
    let defined = |value: u8, last: u8| (1..=last).contains(&value).then_some(value);
    let health = Health {
        life_time_a: defined(life_time_a, 11),
        life_time_b: defined(life_time_b, 11),
        pre_end_of_life: defined(pre_end_of_life, 3),
        ..Health::default()
    };
    (health != Health::default()).then_some(health)
}

/// What they mean, a clause each; the worst is not sorted out.
pub fn health_words(health: &Health) -> Vec<String> {
    let life = |part: &str, tenth: u8| match tenth {
        11.. => format!("life time {part}: past what the part is rated for"),
        tenth => format!("life time {part}: {} to {} % used", (tenth - 1) * 10, tenth * 10),
    };
    let spare = |state: u8| match state {
        1 => "reserved blocks: normal",
        2 => "reserved blocks: warning, 80 % are used up",
        _ => "reserved blocks: urgent, 90 % are used up",
    };
    let mut words = Vec::new();
    words.extend(health.life_time_a.map(|tenth| life("A", tenth)));
    words.extend(health.life_time_b.map(|tenth| life("B", tenth)));
    words.extend(health.pre_end_of_life.map(|state| spare(state).to_owned()));
    words.extend(health.used_percent.map(|percent| format!("{percent} % of the rated life used")));
    words.extend(health.spare_percent.map(|percent| format!("{percent} % of the spare blocks left")));
    words.extend(health.written.map(|bytes| format!("{bytes} written in all its life")));
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_defined_is_absent() {
        let check = |a, b, end, expected: &[&str]| {
            let words = estimates(a, b, end).map(|health| health_words(&health)).unwrap_or_default();
            assert_eq!(words, expected, "{a} {b} {end}");
        };
        check(0, 0, 0, &[]);
        check(1, 0, 1, &["life time A: 0 to 10 % used", "reserved blocks: normal"]);
        check(
            11,
            10,
            3,
            &[
                "life time A: past what the part is rated for",
                "life time B: 90 to 100 % used",
                "reserved blocks: urgent, 90 % are used up",
            ],
        );
        check(12, 255, 4, &[]);
    }
}
