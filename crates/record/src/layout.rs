//! How JSON is laid out: compact enough to read, broken enough to compare line by line.
//!
//! One rule: what fits one line stands on one line, and so does every array of numbers however long; all
//! else is broken and indented by two.

use serde_json::Value;

/// Longest line that is not an array of numbers.
const WIDTH: usize = 110;

/// The text of a value, without a final newline.
pub(crate) fn pretty(value: &Value) -> String {
    let mut text = String::new();
    write(value, 0, 0, &mut text);
    text
}

/// `used` is what stands before the value on its line.
fn write(value: &Value, depth: usize, used: usize, text: &mut String) {
    if is_samples(value) || fits(value, WIDTH.saturating_sub(used)) {
        return write_flat(value, text);
    }
    let inner = 2 * (depth + 1);
    match value {
        Value::Array(items) => {
            text.push('[');
            for (at, item) in items.iter().enumerate() {
                new_line(at > 0, inner, text);
                write(item, depth + 1, inner, text);
            }
            new_line(false, 2 * depth, text);
            text.push(']');
        }
        Value::Object(fields) => {
            text.push('{');
            for (at, (name, item)) in fields.iter().enumerate() {
                new_line(at > 0, inner, text);
                write_flat(&Value::String(name.clone()), text);
                text.push_str(": ");
                write(item, depth + 1, inner + name.len() + 4, text);
            }
            new_line(false, 2 * depth, text);
            text.push('}');
        }
        _ => write_flat(value, text),
    }
}

fn new_line(after_comma: bool, indent: usize, text: &mut String) {
    text.push_str(if after_comma { ",\n" } else { "\n" });
    text.extend(std::iter::repeat_n(' ', indent));
}

fn is_samples(value: &Value) -> bool {
    value.as_array().is_some_and(|items| items.iter().all(Value::is_number))
}

/// Whether the flat form is at most `width` long; looks at no more than it must.
fn fits(value: &Value, width: usize) -> bool {
    flat_length(value, width).is_some()
}

/// Length of the flat form, or nothing where it is above `limit`.
fn flat_length(value: &Value, limit: usize) -> Option<usize> {
    let mut used = 0;
    let mut add = |length: Option<usize>| {
        used += length?;
        (used <= limit).then_some(used)
    };
    match value {
        Value::Array(items) => {
            add(Some(2))?;
            for item in items {
                add(Some(2))?;
                add(flat_length(item, limit))?;
            }
        }
        Value::Object(fields) => {
            add(Some(4))?;
            for (name, item) in fields {
                add(Some(name.len() + 6))?;
                add(flat_length(item, limit))?;
            }
        }
        _ => {
            add(Some(value.to_string().chars().count()))?;
        }
    }
    Some(used)
}

fn write_flat(value: &Value, text: &mut String) {
    match value {
        Value::Array(items) => {
            text.push('[');
            for (at, item) in items.iter().enumerate() {
                text.push_str(if at > 0 { ", " } else { "" });
                write_flat(item, text);
            }
            text.push(']');
        }
        Value::Object(fields) if fields.is_empty() => text.push_str("{}"),
        Value::Object(fields) => {
            text.push_str("{ ");
            for (at, (name, item)) in fields.iter().enumerate() {
                text.push_str(if at > 0 { ", " } else { "" });
                write_flat(&Value::String(name.clone()), text);
                text.push_str(": ");
                write_flat(item, text);
            }
            text.push_str(" }");
        }
        _ => text.push_str(&value.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn short_values_stay_on_one_line() {
        assert_eq!(pretty(&json!({"a": 1, "b": [1, 2]})), r#"{ "a": 1, "b": [1, 2] }"#);
        assert_eq!(pretty(&json!([])), "[]");
        assert_eq!(pretty(&json!({})), "{}");
    }

    #[test]
    fn samples_stay_on_one_line_and_all_else_is_broken() {
        let samples: Vec<u64> = (100..200).collect();
        let text = pretty(&json!({"name": "x", "times": samples, "words": ["a".repeat(60), "b".repeat(60)]}));
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 8, "{text}");
        assert!(lines[2].starts_with("  \"times\": [100, 101") && lines[2].ends_with("199],"));
        assert_eq!(lines[3], "  \"words\": [");
        assert_eq!(lines[4], format!("    \"{}\",", "a".repeat(60)));
    }

    #[test]
    fn the_layout_changes_no_value() {
        let value = json!({"q": "\"\\\n", "f": 118.0, "n": null, "deep": [[[{"x": ["y".repeat(200)]}]]]});
        assert_eq!(serde_json::from_str::<Value>(&pretty(&value)).unwrap(), value);
    }
}
