//! Shapley values: what a player adds to the value of a set, averaged over all orders in which the players can come (Shapley,
//! "A value for n-person games", 1953). The shares add up to the value of all players less that of none.

use flashscope_stats::Rng;

/// Value of a set of players, a bit each; one figure per repetition.
pub(crate) trait Game {
    /// Why a set has none.
    type Error;

    /// Of this set.
    fn value(&mut self, set: u32) -> Result<Vec<f64>, Self::Error>;

    /// Asked before another order is begun: no further one where it is true.
    fn enough(&mut self) -> bool;
}

/// Shares of every player, by repetition: exact, from all 2^n sets.
pub(crate) fn exact<G: Game>(players: u32, game: &mut G) -> Result<Vec<Vec<f64>>, G::Error> {
    let values = (0..1u32 << players).map(|set| game.value(set)).collect::<Result<Vec<_>, _>>()?;
    let repetitions = values.first().map_or(0, Vec::len);
    // A set of s players comes before the player in s! (n − s − 1)! of the n! orders.
    let weights: Vec<f64> = (0..players)
        .map(|size| {
            let choose = (0..size).fold(1.0, |all, k| all * f64::from(players - 1 - k) / f64::from(k + 1));
            1.0 / (f64::from(players) * choose)
        })
        .collect();
    let share = |player: u32, repetition: usize| -> f64 {
        let without = (0..1u32 << players).filter(|set| set >> player & 1 == 0);
        without
            .map(|set| {
                let gain = values[(set | 1 << player) as usize][repetition] - values[set as usize][repetition];
                weights[set.count_ones() as usize] * gain
            })
            .sum()
    };
    Ok((0..players).map(|player| (0..repetitions).map(|repetition| share(player, repetition)).collect()).collect())
}

/// What sampled orders say.
pub(crate) struct Sampled {
    /// Shares of every player, by repetition: means over the orders.
    pub(crate) by_repetition: Vec<Vec<f64>>,
    /// Shares of every player, by pair of orders: means over the repetitions.
    pub(crate) by_pair: Vec<Vec<f64>>,
    /// Orders that were looked at.
    pub(crate) orders: u32,
}

/// Shares from sampled orders, each followed by its reverse: what a player adds first and last then counts alike, which
/// scatters less than as many orders by themselves.
pub(crate) fn sampled<G: Game>(players: u32, orders: u32, rng: &mut Rng, game: &mut G) -> Result<Sampled, G::Error> {
    let mut order: Vec<u32> = (0..players).collect();
    let mut gains: Vec<Vec<Vec<f64>>> = Vec::new();
    while (gains.len() as u32) * 2 < orders && !(gains.len() > 1 && game.enough()) {
        rng.shuffle(&mut order);
        let forward = along(&order, game)?;
        let reverse: Vec<u32> = order.iter().rev().copied().collect();
        let backward = along(&reverse, game)?;
        let mean = |player: usize| -> Vec<f64> {
            forward[player].iter().zip(&backward[player]).map(|(one, other)| (one + other) / 2.0).collect()
        };
        gains.push((0..players as usize).map(mean).collect());
    }
    let pairs = gains.len();
    let repetitions = gains.first().and_then(|pair| pair.first()).map_or(0, Vec::len);
    let by_repetition = |player: usize| -> Vec<f64> {
        let mean = |at: usize| gains.iter().map(|pair| pair[player][at]).sum::<f64>() / pairs.max(1) as f64;
        (0..repetitions).map(mean).collect()
    };
    let by_pair = |player: usize| -> Vec<f64> {
        gains.iter().map(|pair| pair[player].iter().sum::<f64>() / repetitions.max(1) as f64).collect()
    };
    Ok(Sampled {
        by_repetition: (0..players as usize).map(by_repetition).collect(),
        by_pair: (0..players as usize).map(by_pair).collect(),
        orders: pairs as u32 * 2,
    })
}

/// What each player adds in one order.
fn along<G: Game>(order: &[u32], game: &mut G) -> Result<Vec<Vec<f64>>, G::Error> {
    let mut gains = vec![Vec::new(); order.len()];
    let mut set = 0;
    let mut before = game.value(set)?;
    for player in order {
        set |= 1 << player;
        let after = game.value(set)?;
        gains[*player as usize] = after.iter().zip(&before).map(|(after, before)| after - before).collect();
        before = after;
    }
    Ok(gains)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::convert::Infallible;

    struct Of<F>(F);

    impl<F: Fn(u32) -> f64> Game for Of<F> {
        type Error = Infallible;

        fn value(&mut self, set: u32) -> Result<Vec<f64>, Infallible> {
            Ok(vec![(self.0)(set), 2.0 * (self.0)(set)])
        }

        fn enough(&mut self) -> bool {
            false
        }
    }

    /// Player 0 adds 3; players 1 and 2 add 4 together and nothing alone; player 3 adds nothing.
    fn value(set: u32) -> f64 {
        f64::from(set & 1) * 3.0 + if set & 0b110 == 0b110 { 4.0 } else { 0.0 }
    }

    fn check(found: &[Vec<f64>], near: f64) {
        for (player, wanted) in [3.0, 2.0, 2.0, 0.0].into_iter().enumerate() {
            assert!((found[player][0] - wanted).abs() <= near, "{player}: {found:?}");
            assert!((found[player][1] - 2.0 * wanted).abs() <= 2.0 * near, "{player}: {found:?}");
        }
    }

    #[test]
    fn exact_shares_are_those_of_the_definition() {
        let Ok(found) = exact(4, &mut Of(value));
        check(&found, 1e-12);
    }

    #[test]
    fn sampled_shares_are_near_and_add_up() {
        let Ok(found) = sampled(4, 64, &mut Rng::new(5), &mut Of(value));
        assert_eq!((found.orders, found.by_pair[0].len()), (64, 32));
        check(&found.by_repetition, 1e-12);
        // Three of whom any two do: an order and its reverse do not tell the shares by themselves.
        let two_of_three = |set: u32| f64::from(u8::from(set.count_ones() >= 2));
        let Ok(found) = sampled(3, 64, &mut Rng::new(5), &mut Of(two_of_three));
        let all: f64 = found.by_repetition.iter().map(|player| player[0]).sum();
        assert!((all - 1.0).abs() < 1e-12 && (found.by_repetition[0][0] - 1.0 / 3.0).abs() < 0.2, "{all}");
    }
}
