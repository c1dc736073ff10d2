//! Colours of plots, in the light and in the dark.

/// What a colour stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Hue {
    /// Titles of axes and labels.
    Ink,
    /// Remarks.
    Muted,
    /// Series, in this order.
    Series(usize),
    /// What a finding marks.
    Mark,
}

/// Colours of the page in the light and in the dark: chosen apart in lightness as well, so that they can be told
/// without seeing their hue.
const SERIES: [(u32, u32); 10] = [
    (0x1F6FB4, 0x6CB4F0),
    (0xC2571A, 0xF2A069),
    (0x2A7F62, 0x6FCFA8),
    (0x7A4FB0, 0xBFA0EE),
    (0x9A7B12, 0xE0C45C),
    (0x5B6B7A, 0xA9B8C6),
    (0x0F7C8A, 0x5CC8D6),
    (0xB83A7E, 0xF08FC0),
    (0x7A4A2A, 0xC9A083),
    (0x5C7F12, 0xB3D66B),
];
const INK: (u32, u32) = (0x1C2530, 0xE6EAEE);
const MUTED: (u32, u32) = (0x5A6673, 0x9BA7B3);
const FAINT: (u32, u32) = (0xDDE2E7, 0x2E3740);
const MARK: (u32, u32) = (0xB3261E, 0xFF8A80);

impl Hue {
    /// The class that gives a mark this colour.
    pub(crate) fn class(self) -> String {
        match self {
            Hue::Ink => "ink".to_owned(),
            Hue::Muted => "muted".to_owned(),
            Hue::Mark => "hit".to_owned(),
            Hue::Series(at) => format!("s{}", at % SERIES.len()),
        }
    }

    /// The name of its variable in the style sheet.
    pub(crate) fn variable(self) -> String {
        match self {
            Hue::Ink => "--plot-ink".to_owned(),
            Hue::Muted => "--plot-muted".to_owned(),
            Hue::Mark => "--plot-mark".to_owned(),
            Hue::Series(at) => format!("--series-{}", at % SERIES.len()),
        }
    }

    fn pair(self) -> (u32, u32) {
        match self {
            Hue::Ink => INK,
            Hue::Muted => MUTED,
            Hue::Mark => MARK,
            Hue::Series(at) => SERIES[at % SERIES.len()],
        }
    }
}

/// Variables of all colours in the light and in the dark, and the classes of marks.
pub(crate) fn style_sheet() -> String {
    let all: Vec<Hue> =
        [Hue::Ink, Hue::Muted, Hue::Mark].into_iter().chain((0..SERIES.len()).map(Hue::Series)).collect();
    let variables = |of: fn((u32, u32)) -> u32| -> String {
        let hues = all.iter().map(|hue| format!("{}:#{:06x};", hue.variable(), of(hue.pair())));
        hues.chain([format!("--plot-faint:#{:06x};", of(FAINT))]).collect()
    };
    let classes: String =
        all.iter().map(|hue| format!(".plot .{}{{--hue:var({})}}", hue.class(), hue.variable())).collect();
    format!(
        ":root{{{}}}\n@media screen and (prefers-color-scheme: dark){{:root{{{}}}}}\n{classes}\n",
        variables(|(light, _)| light),
        variables(|(_, dark)| dark),
    )
}
