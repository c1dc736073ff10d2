//! Contradictions between registers and behaviour, to be planted in a simulated part.

/// One contradiction: what the registers claim and the part does not do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Plant {
    /// `SEC_COUNT` says twice what is there.
    Capacity,
    /// The cache cannot be switched on.
    CacheRefused,
    /// The cache can be switched on, and nothing is quicker for it.
    CacheWithout,
    /// A flush returns before anything is written.
    FlushLies,
    /// The barrier is claimed, and refused.
    BarrierRefused,
    /// A discard is refused, which every part from 4.5 on must take.
    DiscardRefused,
    /// What was trimmed reads as it did.
    TrimKeeps,
    /// What was trimmed reads as the other of 0 and 1.
    TrimReadsOther,
    /// An erase of a group leaves it as it was.
    EraseKeeps,
    /// Secure erase and trim are claimed, and refused.
    SecureRefused,
    /// The sanitise is claimed, and refused.
    SanitizeRefused,
    /// The sanitise takes data with it that can be read.
    SanitizeLoses,
    /// Packed writes are claimed, and fail.
    PackedRefused,
    /// Reliable writes fail.
    ReliableRefused,
    /// Tagged writes are claimed, and fail.
    TagRefused,
    /// Contexts are claimed, and cannot be opened.
    ContextRefused,
    /// The high-priority interrupt is claimed, and cannot be switched on.
    InterruptRefused,
    /// Background operations are claimed and enabled, and do not begin.
    BackgroundRefused,
    /// The power-off notification is taken, and forgotten.
    NotificationForgotten,
    /// The command queue is claimed, and cannot be switched on.
    QueueRefused,
    /// The command queue takes one task, whatever depth it claims.
    QueueShallow,
    /// The boot partitions have another size than the register says.
    BootSize,
    /// The bus runs in a mode that the part does not claim.
    BusMode,
    /// The bus runs with enhanced strobe, which the part does not claim.
    Strobe,
    /// Areas are set up that the part says it cannot have.
    Areas,
}

impl Plant {
    /// All of them.
    pub const ALL: [Plant; 25] = [
        Plant::Capacity,
        Plant::CacheRefused,
        Plant::CacheWithout,
        Plant::FlushLies,
        Plant::BarrierRefused,
        Plant::DiscardRefused,
        Plant::TrimKeeps,
        Plant::TrimReadsOther,
        Plant::EraseKeeps,
        Plant::SecureRefused,
        Plant::SanitizeRefused,
        Plant::SanitizeLoses,
        Plant::PackedRefused,
        Plant::ReliableRefused,
        Plant::TagRefused,
        Plant::ContextRefused,
        Plant::InterruptRefused,
        Plant::BackgroundRefused,
        Plant::NotificationForgotten,
        Plant::QueueRefused,
        Plant::QueueShallow,
        Plant::BootSize,
        Plant::BusMode,
        Plant::Strobe,
        Plant::Areas,
    ];

    /// The revision of EXT_CSD from which on a part can have it: 6 is 4.5, 8 is 5.1.
    pub fn since(self) -> u8 {
        match self {
            Plant::BarrierRefused | Plant::QueueRefused | Plant::QueueShallow | Plant::Strobe => 8,
            _ => 6,
        }
    }

    /// Its name where one is asked for.
    pub fn word(self) -> String {
        let mut word = String::new();
        for letter in format!("{self:?}").chars() {
            if letter.is_ascii_uppercase() && !word.is_empty() {
                word.push('-');
            }
            word.push(letter.to_ascii_lowercase());
        }
        word
    }

    /// The feature whose row of a check must fail.
    pub fn feature(self) -> &'static str {
        match self {
            Plant::Capacity => "capacity",
            Plant::CacheRefused | Plant::CacheWithout => "cache",
            Plant::FlushLies => "flush",
            Plant::BarrierRefused => "cache barrier",
            Plant::DiscardRefused => "discard",
            Plant::TrimKeeps | Plant::TrimReadsOther => "trim",
            Plant::EraseKeeps => "erase",
            Plant::SecureRefused => "secure erase and trim",
            Plant::SanitizeRefused | Plant::SanitizeLoses => "sanitise",
            Plant::PackedRefused => "packed commands",
            Plant::ReliableRefused => "reliable write",
            Plant::TagRefused => "data tags",
            Plant::ContextRefused => "contexts",
            Plant::InterruptRefused => "high-priority interrupt",
            Plant::BackgroundRefused => "background operations",
            Plant::NotificationForgotten => "power-off notification",
            Plant::QueueRefused | Plant::QueueShallow => "command queue",
            Plant::BootSize => "boot partitions",
            Plant::BusMode => "bus modes",
            Plant::Strobe => "enhanced strobe",
            Plant::Areas => "enhanced and general-purpose areas",
        }
    }
}
