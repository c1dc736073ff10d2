//! The shell arithmetic that people write into commands: `$[4 * 1024 * 1024]`, `$((4 << 20))`.

/// A whole number or an arithmetic expression, with the suffixes k, M, G of 1024.
pub(super) fn evaluate(text: &str) -> Option<u64> {
    let text = text.trim().trim_matches(['"', '\'', '`']);
    let inner = text
        .strip_prefix("$((")
        .and_then(|rest| rest.strip_suffix("))"))
        .or_else(|| text.strip_prefix("$[").and_then(|rest| rest.strip_suffix(']')))
        .or_else(|| text.strip_prefix("$(expr").and_then(|rest| rest.strip_suffix(')')))
        .or_else(|| text.strip_prefix("expr"))
        .unwrap_or(text);
    let mut parser = Parser { text: inner.as_bytes(), at: 0, depth: 0 };
    let value = parser.shift()?;
    parser.skip();
    (parser.at == parser.text.len()).then_some(value)
}

/// Nesting that no person writes.
const MAX_DEPTH: u32 = 32;

struct Parser<'a> {
    text: &'a [u8],
    at: usize,
    depth: u32,
}

impl Parser<'_> {
    fn shift(&mut self) -> Option<u64> {
        let mut value = self.sum()?;
        while self.take(b"<<") {
            value = value.checked_mul(1u64.checked_shl(u32::try_from(self.sum()?).ok()?)?)?;
        }
        Some(value)
    }

    fn sum(&mut self) -> Option<u64> {
        let mut value = self.product()?;
        loop {
            if self.take(b"+") {
                value = value.checked_add(self.product()?)?;
            } else if self.take(b"-") {
                value = value.checked_sub(self.product()?)?;
            } else {
                return Some(value);
            }
        }
    }

    fn product(&mut self) -> Option<u64> {
        let mut value = self.power()?;
        loop {
            if self.take(b"*") || self.take(b"\\*") {
                value = value.checked_mul(self.power()?)?;
            } else if self.take(b"/") {
                value = value.checked_div(self.power()?)?;
            } else {
                return Some(value);
            }
        }
    }

    fn power(&mut self) -> Option<u64> {
        let base = self.atom()?;
        if self.take(b"**") {
            return base.checked_pow(u32::try_from(self.atom()?).ok()?);
        }
        Some(base)
    }

    fn atom(&mut self) -> Option<u64> {
        if self.take(b"(") {
            self.depth += 1;
            let value = if self.depth < MAX_DEPTH { self.shift()? } else { return None };
            self.depth -= 1;
            return self.take(b")").then_some(value);
        }
        self.skip();
        let hexadecimal = self.text[self.at..].starts_with(b"0x") || self.text[self.at..].starts_with(b"0X");
        let (radix, start) = if hexadecimal { (16, self.at + 2) } else { (10, self.at) };
        let digits = self.text[start..].iter().take_while(|byte| (**byte as char).is_digit(radix)).count();
        let text = std::str::from_utf8(&self.text[start..start + digits]).ok()?;
        let value = u64::from_str_radix(text, radix).ok()?;
        self.at = start + digits;
        let suffix: &[u8] = &self.text[self.at..];
        let (factor, length) = match suffix.first().map(u8::to_ascii_lowercase) {
            Some(b'k') => (1 << 10, 1),
            Some(b'm') => (1 << 20, 1),
            Some(b'g') => (1 << 30, 1),
            _ => (1, 0),
        };
        self.at += length;
        if length == 1 && self.text[self.at..].starts_with(b"iB") {
            self.at += 2;
        }
        value.checked_mul(factor)
    }

    fn skip(&mut self) {
        while self.text.get(self.at).is_some_and(u8::is_ascii_whitespace) {
            self.at += 1;
        }
    }

    fn take(&mut self, operator: &[u8]) -> bool {
        self.skip();
        let rest = &self.text[self.at..];
        let doubled = operator == b"*" && rest.starts_with(b"**");
        let found = rest.starts_with(operator) && !doubled;
        if found {
            self.at += operator.len();
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expressions() {
        let check = |text: &str, expect: Option<u64>| assert_eq!(evaluate(text), expect, "{text}");
        check("4194304", Some(4 << 20));
        check("$[4 * 1024 * 1024]", Some(4 << 20));
        check("$((4*1024*1024))", Some(4 << 20));
        check("$(( 4 << 20 ))", Some(4 << 20));
        check("$((1024*(3+1)))", Some(4096));
        check("$((2**22))", Some(4 << 20));
        check("$(expr 4 \\* 1024)", Some(4096));
        check("\"16384\"", Some(16384));
        check("0x400", Some(1024));
        check("16k", Some(16384));
        check("4M", Some(4 << 20));
        check("$i", None);
        check("$[1/0]", None);
        check("$[1 << 99]", None);
        check("$[", None);
        check("", None);
        check("12ab", None);
        check(&"(".repeat(1000), None);
        check("99999999999999999999", None);
    }
}
