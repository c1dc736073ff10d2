//! The tables of fields: one a register, in the order in which the standards print them, the highest place first.

mod ext_csd;
mod mmc;
mod sd;

use crate::field::{Access, Field, Meaning};
use crate::{Family, RegisterKind};

/// The fields of a register; `structure` is the CSD's own word for its layout.
pub(crate) fn of(kind: RegisterKind, family: Family, structure: u8) -> &'static [Field] {
    match (kind, family) {
        (RegisterKind::Cid, Family::Mmc) => mmc::CID,
        (RegisterKind::Cid, Family::Sd) => sd::CID,
        (RegisterKind::Csd, Family::Mmc) => mmc::CSD,
        (RegisterKind::Csd, Family::Sd) => match structure {
            0 => sd::CSD_1,
            1 => sd::CSD_2,
            _ => sd::CSD_3,
        },
        (RegisterKind::ExtCsd, _) => ext_csd::EXT_CSD,
        (RegisterKind::Scr, _) => sd::SCR,
        (RegisterKind::Ssr, _) => sd::SSR,
        (RegisterKind::Ocr, Family::Mmc) => mmc::OCR,
        (RegisterKind::Ocr, Family::Sd) => sd::OCR,
    }
}

/// A field of numbered bits, from the highest to the lowest.
const fn bits(high: u16, low: u16, name: &'static str, access: Access, meaning: Meaning) -> Field {
    Field { name, at: low, length: high - low + 1, since: 0, access, meaning }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_place_of_every_register_has_one_field() {
        let all = [
            (RegisterKind::Cid, Family::Mmc, 0),
            (RegisterKind::Cid, Family::Sd, 0),
            (RegisterKind::Csd, Family::Mmc, 0),
            (RegisterKind::Csd, Family::Sd, 0),
            (RegisterKind::Csd, Family::Sd, 1),
            (RegisterKind::Csd, Family::Sd, 2),
            (RegisterKind::ExtCsd, Family::Mmc, 0),
            (RegisterKind::Scr, Family::Sd, 0),
            (RegisterKind::Ssr, Family::Sd, 0),
            (RegisterKind::Ocr, Family::Mmc, 0),
            (RegisterKind::Ocr, Family::Sd, 0),
        ];
        for (kind, family, structure) in all {
            // Fields of EXT_CSD are numbered by bytes, all others by bits.
            let mut end = kind.bytes() as u16 * if kind == RegisterKind::ExtCsd { 1 } else { 8 };
            for field in of(kind, family, structure) {
                assert_eq!(field.at + field.length, end, "{kind:?} {family:?} {structure}: {}", field.name);
                end = field.at;
            }
            assert_eq!(end, 0, "{kind:?} {family:?} {structure}");
        }
    }
}
