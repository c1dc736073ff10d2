//! The right to write, and the one place where it is given.
//!
//! A [`WriteGrant`] comes from [`WriteGrant::simulated`] for a device that this process made up, or
//! from [`WriteGrant::decide`], which weighs what the host found about a real one (a
//! [`SafetyReport`]) against what the operator said ([`Consent`]). Nothing else makes one, and no
//! write request can be built without one. The grant carries the byte budget and keeps it exactly. Every request that
//! it makes bears its [`Seal`], and a real target takes writes under its own seal only, up to the budget: a copy
//! of a request, or one made for another device, writes nothing.

use flashscope_model::{DeviceFacts, DeviceKind};
use flashscope_units::Bytes;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};

/// The right to write a number of bytes to one device.
#[derive(Debug)]
pub struct WriteGrant {
    seal: Seal,
    capacity: Bytes,
    budget: Bytes,
    spent: Bytes,
    /// Every write costs the whole units of this size that it touches; a power of two.
    unit: Bytes,
}

/// Which grant a request was made under; no two grants of a process share one, but for parts of the same grant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Seal(u64);

impl Seal {
    fn new() -> Seal {
        /// Number of the next grant of this process.
        static NEXT: AtomicU64 = AtomicU64::new(1);
        Seal(NEXT.fetch_add(1, Ordering::Relaxed))
    }
}

/// What the host found out about writing to a target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SafetyReport {
    /// What the operator must have named: `SERIAL:BYTES`, `MODEL:BYTES`, `loop:PATH`; `None` for a plain file.
    pub identity: Option<String>,
    /// Kind of target.
    pub kind: DeviceKind,
    /// Size of the target.
    pub capacity: Bytes,
    /// Everything that speaks against writing.
    pub refusals: Vec<Refusal>,
}

/// What the operator said on the command line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Consent {
    /// `--destroy-data=IDENTITY`.
    pub identity: Option<String>,
    /// `--allow-write`, which serves for plain files only.
    pub allow_file: bool,
    /// `--destroy-signatures`: also overwrite a partition table or file system that is not in use.
    pub signatures: bool,
}

/// One thing that speaks against writing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// What kind of thing.
    pub kind: RefusalKind,
    /// What exactly, in words.
    pub what: String,
    /// The command or step that would release the device, where there is one.
    pub release: Option<String>,
}

/// What speaks against writing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RefusalKind {
    /// The operator did not ask for writing in the way that this target needs.
    NoConsent,
    /// The operator named another device.
    WrongIdentity,
    /// Mounted here.
    Mounted,
    /// Mounted in another mount namespace.
    MountedElsewhere,
    /// Used as swap.
    Swap,
    /// Part of a device-mapper, md or LVM stack.
    Holder,
    /// Backs a loop device, or is a loop device over something that is in use.
    LoopBacked,
    /// Opened exclusively by someone else.
    Busy,
    /// Carries a partition table or file-system signature.
    Signature,
    /// Cannot be written to.
    ReadOnly,
    /// Smaller than the plan needs.
    TooSmall,
    /// The disk that holds the running system.
    SystemDisk,
    /// Not the device that was checked.
    Changed,
    /// Something that could not be checked.
    Unchecked,
}

impl RefusalKind {
    /// Whether the operator may consent to it; all else is final.
    pub const fn may_be_overridden(self) -> bool {
        matches!(self, RefusalKind::Signature)
    }
}

/// Why a write was not granted while running.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GrantError {
    /// The budget does not cover it.
    BudgetSpent {
        /// What is left.
        left: Bytes,
    },
    /// It lies outside the device that the grant is for.
    OutOfRange,
}

impl fmt::Display for GrantError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::BudgetSpent { left } => write!(f, "the write budget is used up ({left} left)"),
            Self::OutOfRange => write!(f, "a write outside the device was asked for"),
        }
    }
}

impl std::error::Error for GrantError {}

impl WriteGrant {
    /// For a simulated device, which nobody can be hurt by; `None` for any other.
    pub fn simulated(facts: &DeviceFacts, budget: Bytes) -> Option<WriteGrant> {
        facts.simulated.then(|| WriteGrant {
            seal: Seal::new(),
            capacity: facts.capacity,
            budget,
            spent: Bytes::ZERO,
            unit: Bytes(1),
        })
    }

    /// Weighs the safety report against the operator's consent. On refusal says everything that speaks
    /// against it, never what the right identity would have been.
    pub fn decide(report: &SafetyReport, consent: &Consent, budget: Bytes) -> Result<WriteGrant, Vec<Refusal>> {
        let mut refusals: Vec<Refusal> = report
            .refusals
            .iter()
            .filter(|refusal| !(consent.signatures && refusal.kind.may_be_overridden()))
            .cloned()
            .collect();
        refusals.extend(missing_consent(report, consent));
        if refusals.is_empty() {
            Ok(WriteGrant { seal: Seal::new(), capacity: report.capacity, budget, spent: Bytes::ZERO, unit: Bytes(1) })
        } else {
            Err(refusals)
        }
    }

    /// The rights to several targets as one, over their capacities laid end to end; `None` of none. Each target must be told
    /// of it, as it bears a seal of its own.
    pub fn join(grants: Vec<WriteGrant>) -> Option<WriteGrant> {
        let sum = |pick: fn(&WriteGrant) -> Bytes| grants.iter().map(pick).sum::<Bytes>();
        (!grants.is_empty()).then(|| WriteGrant {
            seal: Seal::new(),
            capacity: sum(|grant| grant.capacity),
            budget: sum(WriteGrant::left),
            spent: Bytes::ZERO,
            unit: Bytes(1),
        })
    }

    /// The same with every write counted as the whole units of this size that it touches: what goes through the page cache comes
    /// to the medium in pages. A size that is no power of two counts as the next one that is.
    pub fn counting_in(self, unit: Bytes) -> WriteGrant {
        WriteGrant { unit: Bytes(unit.get().max(1).next_power_of_two()), ..self }
    }

    /// Takes a part of what is left, for a worker of its own; `None` where less is left.
    pub fn split(&mut self, budget: Bytes) -> Option<WriteGrant> {
        let rest = self.budget.checked_sub(budget).filter(|rest| *rest >= self.spent)?;
        self.budget = rest;
        Some(WriteGrant { seal: self.seal, capacity: self.capacity, budget, spent: Bytes::ZERO, unit: self.unit })
    }

    /// Takes back what is left of a part that was split off; a part of another grant is worth nothing here.
    pub fn give_back(&mut self, part: WriteGrant) {
        if part.seal == self.seal {
            self.budget += part.left();
        }
    }

    /// What the requests made under this grant, or a part of it, bear.
    pub const fn seal(&self) -> Seal {
        self.seal
    }

    /// What may still be written.
    pub fn left(&self) -> Bytes {
        self.budget - self.spent
    }

    /// What has been written.
    pub fn spent(&self) -> Bytes {
        self.spent
    }

    /// Whether a range lies inside what the grant is for.
    ///
    /// # Errors
    /// It does not.
    #[inline]
    pub fn covers(&self, offset: Bytes, length: Bytes) -> Result<(), GrantError> {
        match offset.get().checked_add(length.get()) {
            Some(end) if end <= self.capacity.get() => Ok(()),
            _ => Err(GrantError::OutOfRange),
        }
    }

    #[inline]
    pub(crate) fn spend(&mut self, offset: Bytes, length: Bytes) -> Result<(), GrantError> {
        self.covers(offset, length)?;
        let last = self.unit.get() - 1;
        let cost = Bytes(((offset.get() + length.get()).saturating_add(last) & !last) - (offset.get() & !last));
        if cost > self.left() {
            return Err(GrantError::BudgetSpent { left: self.left() });
        }
        self.spent += cost;
        Ok(())
    }
}

fn missing_consent(report: &SafetyReport, consent: &Consent) -> Option<Refusal> {
    let refusal = |kind, what: &str, release: &str| {
        Some(Refusal { kind, what: what.to_owned(), release: Some(release.to_owned()) })
    };
    match (&report.identity, &consent.identity) {
        (None, _) if consent.allow_file => None,
        (None, _) => refusal(RefusalKind::NoConsent, "writing to a file was not allowed", "add --allow-write"),
        (Some(_), None) => refusal(
            RefusalKind::NoConsent,
            "writing to a block device destroys its data and was not asked for",
            "look the device's identity up with `flashscope list`, then add --destroy-data=IDENTITY",
        ),
        (Some(right), Some(named)) if right == named => None,
        (Some(_), Some(_)) => refusal(
            RefusalKind::WrongIdentity,
            "--destroy-data names another device than the target",
            "look the device's identity up with `flashscope list`",
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Fill, Request};

    fn report(identity: Option<&str>, refusals: Vec<Refusal>) -> SafetyReport {
        SafetyReport {
            identity: identity.map(str::to_owned),
            kind: DeviceKind::Loop,
            capacity: Bytes::mib(1),
            refusals,
        }
    }

    fn refusal(kind: RefusalKind) -> Refusal {
        Refusal { kind, what: "x".into(), release: None }
    }

    fn kinds(result: Result<WriteGrant, Vec<Refusal>>) -> Vec<RefusalKind> {
        result.err().unwrap_or_default().iter().map(|refusal| refusal.kind).collect()
    }

    #[test]
    fn only_the_right_identity_opens_a_device() {
        let check = |right: Option<&str>, named: Option<&str>, file: bool, expect: &[RefusalKind]| {
            let consent = Consent { identity: named.map(str::to_owned), allow_file: file, signatures: false };
            assert_eq!(kinds(WriteGrant::decide(&report(right, vec![]), &consent, Bytes(10))), expect);
        };
        check(Some("A:1"), Some("A:1"), false, &[]);
        check(Some("A:1"), Some("A:2"), true, &[RefusalKind::WrongIdentity]);
        check(Some("A:1"), None, true, &[RefusalKind::NoConsent]);
        check(None, None, false, &[RefusalKind::NoConsent]);
        check(None, None, true, &[]);
    }

    #[test]
    fn only_signatures_can_be_consented_to() {
        let consent = Consent { identity: Some("A:1".into()), allow_file: false, signatures: true };
        let refusals = vec![refusal(RefusalKind::Signature), refusal(RefusalKind::Mounted)];
        let got = kinds(WriteGrant::decide(&report(Some("A:1"), refusals), &consent, Bytes(10)));
        assert_eq!(got, [RefusalKind::Mounted]);
    }

    #[test]
    fn a_wrong_identity_is_not_corrected() {
        let consent = Consent { identity: Some("B:1".into()), ..Consent::default() };
        let refusals = WriteGrant::decide(&report(Some("SECRET:1"), vec![]), &consent, Bytes(10)).unwrap_err();
        assert!(!format!("{refusals:?}").contains("SECRET"));
    }

    #[test]
    fn the_budget_is_kept_to_the_byte() {
        let consent = Consent { allow_file: true, ..Consent::default() };
        let mut grant = WriteGrant::decide(&report(None, vec![]), &consent, Bytes(1024)).unwrap();
        let mut write =
            |offset, length| Request::write(&mut grant, 0, Bytes(offset), Bytes(length), Fill::Byte(0), false).err();
        assert_eq!(write(0, 512), None);
        assert_eq!(write(0, 1024), Some(GrantError::BudgetSpent { left: Bytes(512) }));
        assert_eq!(write(Bytes::mib(1).get() - 256, 512), Some(GrantError::OutOfRange));
        assert_eq!(write(0, 512), None);
        assert_eq!(write(0, 1), Some(GrantError::BudgetSpent { left: Bytes::ZERO }));
    }

    #[test]
    fn whole_units_are_counted() {
        let consent = Consent { allow_file: true, ..Consent::default() };
        let grant = WriteGrant::decide(&report(None, vec![]), &consent, Bytes::kib(32)).unwrap();
        let mut grant = grant.counting_in(Bytes(4096));
        let mut cost = |offset, length| {
            let before = grant.spent();
            Request::write_any(&mut grant, 0, Bytes(offset), Bytes(length), false)
                .map(|_| ())
                .map(|()| grant.spent() - before)
        };
        assert_eq!(cost(512, 512), Ok(Bytes(4096)));
        assert_eq!(cost(4096 - 1, 2), Ok(Bytes(8192)));
        assert_eq!(cost(8192, 8192), Ok(Bytes(8192)));
        assert_eq!(cost(0, 12289), Err(GrantError::BudgetSpent { left: Bytes::kib(12) }));
        assert_eq!(cost(0, 12288), Ok(Bytes::kib(12)));
    }

    #[test]
    fn parts_of_a_grant_never_exceed_it() {
        let consent = Consent { allow_file: true, ..Consent::default() };
        let mut grant = WriteGrant::decide(&report(None, vec![]), &consent, Bytes(1024)).unwrap();
        Request::write_any(&mut grant, 0, Bytes(0), Bytes(512), false).unwrap();
        assert!(grant.split(Bytes(513)).is_none());
        let mut part = grant.split(Bytes(512)).unwrap();
        assert_eq!((grant.left(), part.left()), (Bytes::ZERO, Bytes(512)));
        assert!(Request::write_any(&mut part, 0, Bytes(0), Bytes(512), false).is_ok());
        assert!(Request::write_any(&mut part, 0, Bytes(0), Bytes(512), false).is_err());
        assert!(Request::write_any(&mut grant, 0, Bytes(0), Bytes(1), false).is_err());
    }

    #[test]
    fn what_is_left_of_a_part_comes_back_and_nothing_of_another_grant_does() {
        let consent = Consent { allow_file: true, ..Consent::default() };
        let grant = || WriteGrant::decide(&report(None, vec![]), &consent, Bytes(1024)).unwrap();
        let mut whole = grant();
        let mut part = whole.split(Bytes(1000)).unwrap();
        Request::write_any(&mut part, 0, Bytes(0), Bytes(512), false).unwrap();
        whole.give_back(part);
        assert_eq!(whole.left(), Bytes(512));
        whole.give_back(grant());
        assert_eq!(whole.left(), Bytes(512));
    }
}
