//! The players among whom a difference is shared out: sets of groups that are exchanged as one.

use crate::groups::{GROUPS, TOGETHER};
use crate::hybrid::Set;

/// Sets of groups, none of which overlap.
pub(crate) type Players = Vec<Set>;

/// Each group by itself, but for those that have no meaning without each other.
pub(crate) fn of(differing: Set) -> Players {
    let mut players: Players = (0..GROUPS.len()).map(|group| 1 << group).filter(|set| differing & set != 0).collect();
    let bit = |name: &str| GROUPS.iter().position(|group| group.name == name).map_or(0, |group| 1u64 << group);
    for (one, other) in TOGETHER {
        let (one, other) = (bit(one), bit(other));
        if differing & one != 0 && differing & other != 0 {
            join(&mut players, one | other);
        }
    }
    players
}

/// Makes one player of all that this set meets.
pub(crate) fn join(players: &mut Players, set: Set) {
    let joined = players.iter().filter(|player| *player & set != 0).fold(0, |joined, player| joined | player);
    let at = players.iter().position(|player| player & set != 0);
    players.retain(|player| player & set == 0);
    if let Some(at) = at {
        players.insert(at.min(players.len()), joined);
    }
}

/// The groups of the players in a set of players.
pub(crate) fn groups(players: &Players, mask: u32) -> Set {
    players.iter().enumerate().filter(|(at, _)| mask >> at & 1 == 1).fold(0, |set, (_, player)| set | player)
}

/// Joins what keeps this hybrid from being a model: the fewest players that B brings into it and that A cannot have, with
/// those that they need. There are such, as B itself is a model.
pub(crate) fn repaired(players: &Players, mask: u32, mut is_model: impl FnMut(Set) -> bool) -> Players {
    let count = players.len() as u32;
    let mut guilty = mask;
    for player in (0..count).filter(|player| mask >> player & 1 == 1) {
        let without = guilty & !(1 << player);
        if !is_model(groups(players, without)) {
            guilty = without;
        }
    }
    let others = || (0..count).filter(|player| guilty >> player & 1 == 0);
    let single = others().find(|player| is_model(groups(players, guilty | 1 << player)));
    let needed = single.map_or_else(
        || {
            // No single one does: take players in until it is a model, which all of them together are.
            let mut taken = guilty;
            for player in others() {
                taken |= 1 << player;
                if is_model(groups(players, taken)) {
                    break;
                }
            }
            // What was taken in for nothing is let go again.
            for player in others() {
                let without = taken & !(1 << player);
                if without != taken && is_model(groups(players, without)) {
                    taken = without;
                }
            }
            taken
        },
        |player| guilty | 1 << player,
    );
    let mut joined = players.clone();
    join(&mut joined, groups(players, needed));
    joined
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_model_alone_is_joined_with_what_it_needs() {
        // Player 1 needs player 3; nothing else needs anything.
        let players: Players = vec![0b1, 0b10, 0b100, 0b1000];
        let is_model = |set: Set| set & 0b10 == 0 || set & 0b1000 != 0;
        assert_eq!(repaired(&players, 0b0111, is_model), vec![0b1, 0b1010, 0b100]);
        // Each of two needs the other.
        let both = |set: Set| (set & 0b1 != 0) == (set & 0b100 != 0);
        assert_eq!(repaired(&players, 0b0011, both), vec![0b101, 0b10, 0b1000]);
        // Only all of them together are a model.
        let all = |set: Set| set == 0 || set == 0b1111;
        assert_eq!(repaired(&players, 0b0100, all), vec![0b1111]);
    }
}
