//! All cuts together, from above: what was lost, how often, and whose fault it is.

use flashscope_model::integrity::{Blame, UpperCut, UpperFault, UpperKind};

/// What was lost above, the most frequent first.
pub fn faults(cuts: &[UpperCut]) -> Vec<UpperFault> {
    let mut list: Vec<UpperFault> = Vec::new();
    for cut in cuts {
        let mut kinds: Vec<UpperKind> = cut.losses.iter().map(|loss| loss.kind).collect();
        kinds.sort_unstable();
        kinds.dedup();
        for kind in kinds {
            let beside = u32::from(cut.device_broke);
            if let Some(fault) = list.iter_mut().find(|fault| fault.kind == kind) {
                (fault.cuts, fault.beside_device) = (fault.cuts + 1, fault.beside_device + beside);
                continue;
            }
            let Some(loss) = cut.losses.iter().find(|loss| loss.kind == kind) else { continue };
            let evidence =
                if loss.name.is_empty() { loss.what.clone() } else { format!("{}: {}", loss.name, loss.what) };
            list.push(UpperFault { kind, cuts: 1, beside_device: beside, first: cut.number, evidence });
        }
    }
    list.sort_by_key(|fault| std::cmp::Reverse(fault.cuts));
    list
}

/// Whose fault it is. A loss after a cut at which the device broke its promise is the device's; one that a file system makes good of its
/// own is nobody's to see.
pub fn blame(cuts: &[UpperCut]) -> Blame {
    let is_device = cuts.iter().any(|cut| cut.device_broke);
    let is_above = cuts.iter().any(|cut| cut.found > 0 && !cut.device_broke);
    match (cuts.is_empty(), is_device, is_above) {
        (true, _, _) => Blame::CannotTell,
        (_, false, false) => Blame::Nobody,
        (_, true, false) => Blame::Device,
        (_, false, true) => Blame::Above,
        (_, true, true) => Blame::Both,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flashscope_model::integrity::UpperLoss;

    fn cut(number: u32, device_broke: bool, kinds: &[UpperKind]) -> UpperCut {
        let loss = |kind: &UpperKind| UpperLoss { kind: *kind, name: "f1".to_owned(), what: "gone".to_owned() };
        let losses: Vec<UpperLoss> = kinds.iter().map(loss).collect();
        let found = losses.len() as u32;
        UpperCut { number, acknowledged: 9, under_way: None, mounted_after: None, device_broke, losses, found }
    }

    #[test]
    fn who_lost_it_is_told_cut_by_cut() {
        use UpperKind::{LostData, LostFile};
        let check = |cuts: &[UpperCut], expect: Blame| assert_eq!(blame(cuts), expect, "{cuts:?}");
        let (kept, device, above) =
            (cut(1, false, &[]), cut(2, true, &[LostData]), cut(3, false, &[LostFile, LostFile]));
        check(&[], Blame::CannotTell);
        check(std::slice::from_ref(&kept), Blame::Nobody);
        check(&[kept.clone(), device.clone()], Blame::Device);
        check(&[kept.clone(), cut(2, true, &[])], Blame::Device);
        check(&[kept.clone(), above.clone()], Blame::Above);
        check(&[device.clone(), above.clone()], Blame::Both);
        let all = faults(&[kept, device, above, cut(4, true, &[LostFile])]);
        let told: Vec<_> = all.iter().map(|fault| (fault.kind, fault.cuts, fault.beside_device, fault.first)).collect();
        assert_eq!(told, [(LostFile, 2, 1, 3), (LostData, 1, 1, 2)]);
    }
}
