//! The words that a job's fields take, in both directions.

use super::text::words_of;
use crate::job::{EngineChoice, Mix, Mode, Pattern, Payload, Sizes, Zones};
use flashscope_units::Bytes;

pub(super) const ENGINES: [(&str, EngineChoice); 7] = [
    ("auto", EngineChoice::Auto),
    ("sync", EngineChoice::Sync),
    ("uring", EngineChoice::Uring),
    ("aio", EngineChoice::Aio),
    ("mmap", EngineChoice::Mmap),
    ("whole", EngineChoice::Whole),
    ("null", EngineChoice::Null),
];

pub(super) const MODES: [(&str, Mode); 5] = [
    ("direct", Mode::Direct),
    ("cached", Mode::Cached),
    ("fdatasync", Mode::Fdatasync),
    ("dsync", Mode::Dsync),
    ("writethrough", Mode::WriteThrough),
];

pub(super) const DIRECTIONS: [(&str, (Mix, Pattern)); 6] = [
    ("read", (Mix::READ, Pattern::Sequential)),
    ("write", (Mix::WRITE, Pattern::Sequential)),
    ("rw", (Mix { reads: 0.5 }, Pattern::Sequential)),
    ("randread", (Mix::READ, Pattern::Random)),
    ("randwrite", (Mix::WRITE, Pattern::Random)),
    ("randrw", (Mix { reads: 0.5 }, Pattern::Random)),
];

pub(super) fn direction(text: &str) -> Result<(Mix, Pattern), String> {
    named(text, &DIRECTIONS)
}

pub(super) fn named<T: Copy>(text: &str, known: &[(&str, T)]) -> Result<T, String> {
    let names = || known.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ");
    let found = known.iter().find(|(name, _)| *name == text);
    found.map(|(_, value)| *value).ok_or_else(|| format!("there is no '{text}'\nhint: one of {}", names()))
}

/// `4k`, or several with weights: `4k:3,64k:1`.
pub fn sizes(text: &str) -> Result<Sizes, String> {
    let one = |part: &str| {
        let (size, weight) = part.split_once(':').unwrap_or((part, "1"));
        let weight = weight.trim().parse().map_err(|_| format!("'{weight}' is no weight (a whole number)"))?;
        size.parse::<Bytes>().map(|size| (size, weight)).map_err(|error| error.to_string())
    };
    text.split(',').map(one).collect::<Result<_, _>>().map(Sizes)
}

/// Numbers and ranges: `0,2-3`.
pub(crate) fn processors(text: &str) -> Result<Vec<u32>, String> {
    let number = |text: &str| text.trim().parse::<u32>().map_err(|_| format!("'{text}' is no number of a processor"));
    let mut all = Vec::new();
    for part in text.split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last) = (number(first)?, number(last)?);
        if last < first || last - first >= MOST_PROCESSORS {
            return Err(format!("'{part}' is no range of processors, like 0-3"));
        }
        all.extend(first..=last);
    }
    all.sort_unstable();
    all.dedup();
    Ok(all)
}

/// More than any machine has, and few enough to write down.
const MOST_PROCESSORS: u32 = 4096;

pub(super) fn pattern(text: &str) -> Result<Pattern, String> {
    let number = |text: &str| text.parse::<f64>().map_err(|_| format!("'{text}' is not a number"));
    let share = |text: &str| match text.strip_suffix('%') {
        Some(percent) => number(percent).map(|percent| percent / 100.0),
        None => Err(format!("'{text}' is not a share, like 10%")),
    };
    match text.split_once(':').unwrap_or((text, "")) {
        ("sequential", "") => Ok(Pattern::Sequential),
        ("backward", "") => Ok(Pattern::Backward),
        ("random", "") => Ok(Pattern::Random),
        ("once", "") => Ok(Pattern::RandomOnce),
        ("strided", stride) => stride
            .parse()
            .map(|stride| Pattern::Strided { stride })
            .map_err(|error: flashscope_units::ParseBytesError| error.to_string()),
        ("skipping", stride) => stride
            .parse()
            .map(|stride| Pattern::Skipping { stride })
            .map_err(|error: flashscope_units::ParseBytesError| error.to_string()),
        ("zipf", theta) => number(theta).map(|theta| Pattern::Zipf { theta }),
        ("pareto", h) => number(h).map(|h| Pattern::Pareto { h }),
        ("zones", text) => {
            let zone = |part: &str| {
                let (requests, span) = part.split_once('/').ok_or("a zone is REQUESTS%/SPAN%, like 90%/10%")?;
                Ok::<_, String>((share(requests)?, share(span)?))
            };
            let shares = text.split(',').map(zone).collect::<Result<Vec<_>, _>>()?;
            let zones = Zones::new(&shares).ok_or("at most 8 zones, whose shares add up to 100 % each")?;
            Ok(Pattern::Zoned(zones))
        }
        ("hot", shares) => {
            let (span, requests) = shares.split_once('/').ok_or("hot needs two shares, like hot:10%/90%")?;
            Ok(Pattern::HotCold { span: share(span)?, requests: share(requests)? })
        }
        _ => Err(format!("there is no pattern '{text}'\nhint: one of {}", words_of("pattern"))),
    }
}

pub(super) fn payload(text: &str) -> Result<Payload, String> {
    let unknown = || format!("there is no payload '{text}'\nhint: one of {}", words_of("payload"));
    match text.split_once(':').unwrap_or((text, "")) {
        ("incompressible", "") => Ok(Payload::Incompressible),
        ("zeros", "") => Ok(Payload::Byte(0)),
        ("urandom", "") => Ok(Payload::Urandom),
        ("byte", byte) => byte.parse().map(Payload::Byte).map_err(|_| unknown()),
        ("tagged", generation) => {
            generation.parse().map(|generation| Payload::Tagged { generation }).map_err(|_| unknown())
        }
        ("compressible", share) => {
            let percent =
                share.strip_suffix('%').and_then(|percent| percent.parse::<f64>().ok()).ok_or_else(unknown)?;
            Ok(Payload::Compressible(percent / 100.0))
        }
        _ => Err(unknown()),
    }
}

pub(super) fn pattern_text(pattern: Pattern) -> String {
    match pattern {
        Pattern::Sequential => "sequential".to_owned(),
        Pattern::Backward => "backward".to_owned(),
        Pattern::Strided { stride } => format!("strided:{}", stride.get()),
        Pattern::Skipping { stride } => format!("skipping:{}", stride.get()),
        Pattern::Random => "random".to_owned(),
        Pattern::RandomOnce => "once".to_owned(),
        Pattern::Zipf { theta } => format!("zipf:{theta}"),
        Pattern::Pareto { h } => format!("pareto:{h}"),
        Pattern::Zoned(zones) => {
            let percent = |(requests, span): &(f64, f64)| format!("{}%/{}%", requests * 100.0, span * 100.0);
            format!("zones:{}", zones.shares().iter().map(percent).collect::<Vec<_>>().join(","))
        }
        Pattern::HotCold { span, requests } => format!("hot:{}%/{}%", span * 100.0, requests * 100.0),
    }
}

pub(super) fn payload_text(payload: Payload) -> String {
    match payload {
        Payload::Incompressible => "incompressible".to_owned(),
        Payload::Compressible(share) => format!("compressible:{}%", share * 100.0),
        Payload::Byte(byte) => format!("byte:{byte}"),
        Payload::Urandom => "urandom".to_owned(),
        Payload::Tagged { generation } => format!("tagged:{generation}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file::JobText;

    #[test]
    fn the_help_names_every_word() {
        let directions = DIRECTIONS.map(|(name, _)| ("rw", name));
        let modes = MODES.map(|(name, _)| ("mode", name));
        let engines = ENGINES.map(|(name, _)| ("engine", name));
        let patterns = [
            "sequential",
            "backward",
            "strided:4k",
            "skipping:4k",
            "random",
            "once",
            "zipf:0.9",
            "pareto:0.2",
            "zones:50%/5%,50%/95%",
            "hot:10%/90%",
        ]
        .map(|text| ("pattern", pattern_text(pattern(text).expect(text)).leak().split(':').next().unwrap_or_default()));
        let payloads = ["incompressible", "compressible:50%", "byte:7", "urandom", "tagged:1"].map(|text| {
            ("payload", payload_text(payload(text).expect(text)).leak().split(':').next().unwrap_or_default())
        });
        for (option, word) in directions.into_iter().chain(modes).chain(engines).chain(patterns).chain(payloads) {
            let words: Vec<&str> = words_of(option).split(|letter: char| !letter.is_alphanumeric()).collect();
            assert!(words.contains(&word), "{option}: {word}");
        }
    }

    #[test]
    fn the_manual_names_every_field_that_an_option_says() {
        let manual = include_str!("../../../../docs/bench.md");
        for known in JobText::options() {
            let field = if known.option == "size" { "span".to_owned() } else { known.option.replace('-', "_") };
            let named = [format!("`{field}`"), format!("`{field} = "), format!("\n{field} = ")]
                .iter()
                .any(|form| manual.contains(form));
            assert!(named, "docs/bench.md does not name {field}");
        }
    }
}
