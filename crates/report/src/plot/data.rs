//! A plot as data for the script of a page, which draws it again so that it can be read off and zoomed into.

use super::marks::{Mark, Plot};
use super::theme::Hue;
use flashscope_view::axis::{Axis, Quantity};
use serde_json::{Map, Value, json};

/// A plot as JSON that can stand inside of a `script` element: nothing in it can end that element.
pub(crate) fn data(plot: &Plot, names: &[(Hue, &str)]) -> String {
    let names: Map<String, Value> = names.iter().map(|(hue, name)| (hue.class(), json!(name))).collect();
    let marks: Vec<Value> = plot.marks.iter().map(mark).collect();
    let all = json!({ "x": axis(&plot.x), "y": axis(&plot.y), "names": names, "marks": marks });
    all.to_string().replace('<', "\\u003c")
}

fn axis(axis: &Axis) -> Value {
    let (low, high) = axis.range();
    let mut value = json!({
        "title": axis.title, "is": axis.quantity.word(), "low": number(low), "high": number(high),
        "log": axis.is_logarithmic(),
    });
    // Only these cannot be worked out anew for a part of the axis.
    if matches!(axis.quantity, Quantity::Nines | Quantity::Place) {
        value["ticks"] = axis.ticks.iter().map(|(at, label)| json!([number(*at), label])).collect();
        value["names"] = json!(axis.names);
    }
    value
}

fn mark(mark: &Mark) -> Value {
    match mark {
        Mark::Dots { points, hue, radius, strength } => {
            json!({ "m": "dots", "hue": hue.class(), "r": radius, "a": strength, "x": xs(points), "y": ys(points) })
        }
        Mark::Line { points, hue, width } => {
            json!({ "m": "line", "hue": hue.class(), "w": width, "x": xs(points), "y": ys(points) })
        }
        Mark::Whiskers { ends, hue } => json!({ "m": "whiskers", "hue": hue.class(), "of": triples(ends) }),
        Mark::Bars { bars, hue } => json!({ "m": "bars", "hue": hue.class(), "of": triples(bars) }),
        Mark::Band { low, high, hue } => {
            json!({ "m": "band", "hue": hue.class(), "low": number(*low), "high": number(*high) })
        }
        Mark::Guide { x, row, words, hue } => {
            json!({ "m": "guide", "hue": hue.class(), "at": number(*x), "row": row, "words": words })
        }
        Mark::Level { y, hue } => json!({ "m": "level", "hue": hue.class(), "at": number(*y) }),
        Mark::Words { at: (x, y), words, hue } => {
            json!({ "m": "words", "hue": hue.class(), "x": number(*x), "y": number(*y), "words": words })
        }
    }
}

fn xs(points: &[(f64, f64)]) -> Vec<Value> {
    points.iter().map(|point| number(point.0)).collect()
}

fn ys(points: &[(f64, f64)]) -> Vec<Value> {
    points.iter().map(|point| number(point.1)).collect()
}

fn triples(of: &[(f64, f64, f64)]) -> Vec<Value> {
    of.iter().map(|(one, two, three)| json!([number(*one), number(*two), number(*three)])).collect()
}

/// Seven digits, whole numbers without a fraction: what is read off is shown with three, and zooming in brings out some more.
fn number(value: f64) -> Value {
    let rounded = format!("{value:.6e}").parse::<f64>().unwrap_or(value);
    if rounded.fract() == 0.0 && rounded.abs() < 9e15 { json!(rounded as i64) } else { json!(rounded) }
}

#[cfg(test)]
mod tests {
    use super::super::marks::{Size, dots, guide};
    use super::*;
    use flashscope_units::Bytes;

    #[test]
    fn nothing_in_the_data_ends_the_script_element() {
        let axis = || Axis::sizes("</script>", [Bytes(1), Bytes(4096)].into_iter(), 4).unwrap();
        let plot = Plot::new(Size::Wide, axis(), axis())
            .with(dots(vec![(1.0, 1234.56789)], Hue::Series(0), 2.0, 1.0))
            .with(guide(2.0, "<!--".to_owned()));
        let text = data(&plot, &[(Hue::Series(0), "</SCRIPT>")]);
        assert!(!text.contains('<'), "{text}");
        let back: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(back["marks"][0]["y"][0], json!(1234.568));
        assert_eq!(back["marks"][0]["x"][0].to_string(), "1");
        assert_eq!(back["names"]["s0"], "</SCRIPT>");
    }
}
