//! SD status: speed classes, and the allocation unit that the card states.

use crate::bits::Register;
use flashscope_units::{Bytes, Nanos};

/// A decoded SD status.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ssr {
    /// Speed class: 0, 2, 4, 6 or 10.
    pub speed_class: Option<u8>,
    /// UHS speed grade: 1 or 3; `None` where it states none.
    pub uhs_grade: Option<u8>,
    /// Video speed class: 6, 10, 30, 60 or 90; `None` where it states none.
    pub video_class: Option<u8>,
    /// Application performance class: 1 or 2; `None` where it states none.
    pub application_class: Option<u8>,
    /// `AU_SIZE`.
    pub allocation_unit: Option<Bytes>,
    /// `UHS_AU_SIZE`, the unit under UHS.
    pub uhs_allocation_unit: Option<Bytes>,
    /// `VSC_AU_SIZE`, the unit under the video speed class.
    pub video_allocation_unit: Option<Bytes>,
    /// How many allocation units [`Ssr::erase_timeout`] is for.
    pub erase_units: Option<u16>,
    /// How long erasing that many may take.
    pub erase_timeout: Option<Nanos>,
    /// Whether it takes discard.
    pub discard: bool,
}

impl Ssr {
    /// Decodes the 128 hexadecimal digits of sysfs `ssr`; `None` where they are not that.
    pub fn parse(hex: &str) -> Option<Ssr> {
        let register = Register::<64>::parse(hex)?;
        let erase_units = Some(register.bits(423, 408) as u16).filter(|units| *units != 0);
        let seconds = Some(u64::from(register.bits(407, 402))).filter(|seconds| *seconds != 0);
        Some(Ssr {
            speed_class: speed_class(register.bits(447, 440)),
            uhs_grade: Some(register.bits(399, 396) as u8).filter(|grade| matches!(grade, 1 | 3)),
            video_class: Some(register.bits(391, 384) as u8).filter(|class| matches!(class, 6 | 10 | 30 | 60 | 90)),
            application_class: Some(register.bits(339, 336) as u8).filter(|class| matches!(class, 1 | 2)),
            allocation_unit: allocation_unit(register.bits(431, 428)),
            // The codes below 1 MiB are not used under UHS.
            uhs_allocation_unit: allocation_unit(register.bits(395, 392)).filter(|unit| *unit >= Bytes::mib(1)),
            video_allocation_unit: Some(register.bits(377, 368))
                .filter(|mib| *mib != 0)
                .map(|mib| Bytes::mib(mib.into())),
            erase_units,
            erase_timeout: erase_units.and(seconds).map(Nanos::secs),
            discard: register.bit(313),
        })
    }

    /// The classes in the words that are printed on cards: `class 10, U3, V30, A2`; `None` where it states none.
    pub fn classes(&self) -> Option<String> {
        let class = self.speed_class.filter(|class| *class != 0).map(|class| format!("class {class}"));
        let grade = self.uhs_grade.map(|grade| format!("U{grade}"));
        let video = self.video_class.map(|class| format!("V{class}"));
        let application = self.application_class.map(|class| format!("A{class}"));
        let words: Vec<String> = [class, grade, video, application].into_iter().flatten().collect();
        (!words.is_empty()).then(|| words.join(", "))
    }
}

/// SD Physical Layer, table 4-47.
fn speed_class(code: u32) -> Option<u8> {
    [0, 2, 4, 6, 10].get(code as usize).copied()
}

/// SD Physical Layer, table 4-49.
fn allocation_unit(code: u32) -> Option<Bytes> {
    match code {
        1..=9 => Some(Bytes::kib(8 << code)),
        0xa => Some(Bytes::mib(8)),
        0xb => Some(Bytes::mib(12)),
        0xc => Some(Bytes::mib(16)),
        0xd => Some(Bytes::mib(24)),
        0xe => Some(Bytes::mib(32)),
        0xf => Some(Bytes::mib(64)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A status with the given bytes at the given places and zeroes elsewhere.
    fn ssr(bytes: &[(usize, u8)]) -> Ssr {
        let mut status = [0u8; 64];
        bytes.iter().for_each(|(at, byte)| status[*at] = *byte);
        let hex: String = status.iter().map(|byte| format!("{byte:02x}")).collect();
        Ssr::parse(&hex).unwrap()
    }

    #[test]
    fn allocation_units() {
        let check = |code: u8, expect: Option<Bytes>| assert_eq!(ssr(&[(10, code << 4)]).allocation_unit, expect);
        check(0, None);
        check(1, Some(Bytes::kib(16)));
        check(6, Some(Bytes::kib(512)));
        check(7, Some(Bytes::mib(1)));
        check(9, Some(Bytes::mib(4)));
        check(0xa, Some(Bytes::mib(8)));
        check(0xb, Some(Bytes::mib(12)));
        check(0xd, Some(Bytes::mib(24)));
        check(0xf, Some(Bytes::mib(64)));
    }

    #[test]
    fn classes() {
        let check = |bytes: &[(usize, u8)], expect: Option<&str>| {
            assert_eq!(ssr(bytes).classes().as_deref(), expect);
        };
        check(&[], None);
        check(&[(8, 3)], Some("class 6"));
        check(&[(8, 4), (14, 0x10)], Some("class 10, U1"));
        check(&[(8, 4), (14, 0x30), (15, 30), (21, 2)], Some("class 10, U3, V30, A2"));
        check(&[(8, 9)], None);
    }

    /// The status of a 32 GB UHS-I card as Linux prints it.
    #[test]
    fn a_whole_status() {
        let hex = format!("{:0<128}", "0000000004000000040090000f0539190a");
        let status = Ssr::parse(&hex).unwrap();
        assert_eq!(status.speed_class, Some(10));
        assert_eq!(status.allocation_unit, Some(Bytes::mib(4)));
        assert_eq!(status.erase_units, Some(15));
        assert_eq!(status.erase_timeout, Some(Nanos::secs(1)));
        assert_eq!(status.uhs_grade, Some(3));
        assert_eq!(status.uhs_allocation_unit, Some(Bytes::mib(4)));
        assert_eq!(Ssr::parse(&hex[1..]), None);
    }
}
