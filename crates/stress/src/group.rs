//! What wrong words have in common.

use flashscope_model::stress::{Group, GroupKind, WrongWord};
use flashscope_units::Bytes;

/// A row of a memory chip, over all chips of a rank: 8 KiB in most DDR3 to LPDDR4 parts (1024 columns of 64 bits).
const ROW: u64 = 8192;
/// Fewer places on one line may be chance.
const LEAST_LANE: usize = 3;

/// Puts wrong words together: those of the same place first, then those of one row, then those of one data line; what is left is scattered.
/// Rows are told by physical addresses where all of a row's words have one, else by places, which are the same within a page only.
pub fn groups(words: &[WrongWord]) -> Vec<Group> {
    let mut sorted: Vec<&WrongWord> = words.iter().collect();
    sorted.sort_by_key(|word| (word.physical, word.at));
    let mut places: Vec<Vec<&WrongWord>> = Vec::new();
    for word in sorted {
        match places.last_mut().filter(|last| last[0].at == word.at) {
            Some(last) => last.push(word),
            None => places.push(vec![word]),
        }
    }
    let row = |word: &WrongWord| word.physical.unwrap_or(word.at.get()) / ROW;
    let mut rows: Vec<Vec<Vec<&WrongWord>>> = Vec::new();
    for place in places {
        match rows.last_mut().filter(|last| row(last[0][0]) == row(place[0])) {
            Some(last) => last.push(place),
            None => rows.push(vec![place]),
        }
    }
    let (together, alone): (Vec<_>, Vec<_>) = rows.into_iter().partition(|row| row.len() >= LEAST_LANE);
    let mut list: Vec<Group> = together.iter().map(|row| group(GroupKind::OneRow, &row.concat())).collect();
    let mut left: Vec<Vec<&WrongWord>> = alone.into_iter().flatten().collect();
    for bit in 0..64 {
        let is_of_lane = |place: &Vec<&WrongWord>| place.iter().all(|word| word.bits() == 1 << bit);
        if left.iter().filter(|place| is_of_lane(place)).count() >= LEAST_LANE {
            let (lane, others): (Vec<_>, Vec<_>) = left.into_iter().partition(is_of_lane);
            list.push(group(GroupKind::OneLane, &lane.concat()));
            left = others;
        }
    }
    let (repeated, single): (Vec<_>, Vec<_>) = left.into_iter().partition(|place| place.len() > 1);
    list.extend(repeated.iter().map(|place| group(GroupKind::OneWord, place)));
    match single.as_slice() {
        [] => {}
        [one] => list.push(group(GroupKind::OneWord, one)),
        _ => list.push(group(GroupKind::Scattered, &single.concat())),
    }
    list
}

fn group(kind: GroupKind, words: &[&WrongWord]) -> Group {
    let places = || words.iter().map(|word| word.at);
    Group {
        kind,
        words: words.len() as u64,
        bits: words.iter().fold(0, |bits, word| bits | word.bits()),
        from: places().min().unwrap_or(Bytes::ZERO),
        to: places().max().unwrap_or(Bytes::ZERO),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flashscope_model::stress::Persistence;

    #[test]
    fn places_rows_and_lanes_are_told_apart() {
        let check = |wrong: &[(u64, u64)], expect: &[(GroupKind, u64, u64)]| {
            let words: Vec<WrongWord> = wrong
                .iter()
                .map(|(at, bits)| WrongWord {
                    at: Bytes(*at),
                    physical: None,
                    expected: 0,
                    found: *bits,
                    persistence: Persistence::Changed,
                    again: 8,
                    again_right: 0,
                    was_right: true,
                })
                .collect();
            let found: Vec<_> = groups(&words).iter().map(|group| (group.kind, group.words, group.bits)).collect();
            assert_eq!(found, expect, "{wrong:?}");
        };
        check(&[], &[]);
        check(&[(64, 1)], &[(GroupKind::OneWord, 1, 1)]);
        check(&[(64, 1), (64, 2)], &[(GroupKind::OneWord, 2, 3)]);
        check(&[(64, 1), (ROW * 5, 2)], &[(GroupKind::Scattered, 2, 3)]);
        check(
            &[(ROW, 8), (ROW * 5, 8), (ROW * 9, 8), (ROW * 11, 1)],
            &[(GroupKind::OneLane, 3, 8), (GroupKind::OneWord, 1, 1)],
        );
        check(&[(ROW, 8), (ROW + 64, 4), (ROW + 512, 8)], &[(GroupKind::OneRow, 3, 12)]);
    }
}
