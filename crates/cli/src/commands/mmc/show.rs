//! `mmc show` and `mmc dump`.

use super::{health_json, registers};
use crate::args::{MmcDump, MmcShow};
use crate::error::{Failure, Outcome};
use crate::output;
use anyhow::anyhow;
use flashscope_host::CardRegisters;
use flashscope_registers::{Access, Decoded, DumpHint, Family, RegisterKind, Shown, decode, summary, write_dump};
use serde_json::{Map, Value, json};

pub(super) fn run(args: &MmcShow) -> Result<Outcome, Failure> {
    let hint = DumpHint { name: "", family: args.family.map(Into::into), register: args.register.map(Into::into) };
    let save = args
        .save
        .as_deref()
        .map(|path| output::plan(&mut output::door(args.force, [&args.target]), path))
        .transpose()?;
    let found = registers(&args.target, hint)?;
    let decoded = decode(&found.registers);
    let printed = if args.json { format!("{:#}", as_json(&found, &decoded)) } else { as_text(&found, &decoded) };
    let mut saved = output::Saved::default();
    if let Some(save) = &save {
        saved.add(save, "Registers", Ok(write_dump(&found.registers)));
    }
    saved.after(output::data(&printed))?;
    let is_wrong = decoded.iter().any(|register| !register.problems.is_empty());
    Ok(if is_wrong { Outcome::ExpectationFailed } else { Outcome::Done })
}

pub(super) fn dump(args: &MmcDump) -> Result<Outcome, Failure> {
    let found = registers(&args.target, DumpHint::default())?;
    if found.registers.kinds().next().is_none() {
        return Err(Failure::Cannot(anyhow!("no register could be read: {}", found.left_out.join("; "))));
    }
    found.left_out.iter().for_each(|why| output::say(&format!("left out: {why}")));
    output::data(&write_dump(&found.registers))?;
    Ok(Outcome::Done)
}

fn as_text(found: &CardRegisters, decoded: &[Decoded]) -> String {
    let lines = summary(&found.registers).into_iter().map(|(label, text)| output::named(&format!("{label:<8}"), &text));
    let mut lines: Vec<String> = lines.collect();
    let problems = decoded.iter().flat_map(|register| {
        let fields =
            register.fields.iter().filter_map(|field| Some(format!("{}: {}", field.name, field.problem.as_ref()?)));
        register.problems.iter().cloned().chain(fields).map(|what| format!("{}: {what}", title(register.kind)))
    });
    lines.extend(problems.map(|what| output::named(&format!("{:<8}", "problem"), &what)));
    lines.extend(found.left_out.iter().map(|why| output::named(&format!("{:<8}", "left out"), why)));
    for register in decoded {
        lines.push(String::new());
        lines.push(format!("{}  ({})", title(register.kind), register.section));
        lines.extend(register.fields.iter().map(|field| {
            let problem = field.problem.as_ref().map(|what| format!("  ! {what}")).unwrap_or_default();
            let once = if field.access == Access::Once { "  (written once)" } else { "" };
            let name = format!("  {:<9} {:<34}", place(field), field.name);
            // A long field of the maker's says nothing to a reader; --json has it.
            let raw = if field.raw.len() > 16 {
                format!("{} bytes", field.raw.len() / 2)
            } else {
                format!("0x{}", field.raw)
            };
            output::named(&name, &format!("{raw:<10}  {}{once}{problem}", field.words))
        }));
    }
    lines.join("\n")
}

fn title(kind: RegisterKind) -> String {
    kind.word().to_uppercase()
}

/// `249` or `252:249`.
fn place(field: &Shown) -> String {
    let (high, low) = field.place;
    if high == low { format!("{low}") } else { format!("{high}:{low}") }
}

fn as_json(found: &CardRegisters, decoded: &[Decoded]) -> Value {
    let registers: Vec<Value> = decoded
        .iter()
        .map(|register| {
            json!({
                "register": register.kind.word(),
                "section": register.section,
                "hex": register.hex,
                "problems": register.problems,
                "fields": register.fields.iter().map(field).collect::<Vec<_>>(),
            })
        })
        .collect();
    json!({
        "schema": "flashscope.registers/1",
        "family": if found.registers.family == Family::Sd { "sd" } else { "mmc" },
        "summary": summary(&found.registers).into_iter().map(|(label, text)| (label.to_owned(), json!(text))).collect::<Map<_, _>>(),
        "health": found.registers.health().as_ref().map(health_json),
        "ext_csd_from": found.ext_csd_from,
        "left_out": found.left_out,
        "registers": registers,
    })
}

fn field(field: &Shown) -> Value {
    let (high, low) = field.place;
    json!({
        "name": field.name,
        "high": high,
        "low": low,
        "raw": field.raw,
        "words": field.words,
        "value": field.figure.map(|(value, _)| value),
        "unit": field.figure.map(|(_, unit)| unit.suffix()),
        "access": field.access.word(),
        "problem": field.problem,
    })
}
