//! What a definition must not say.

use crate::definition::{Database, Definition, MAIN, Operation, Step};
use crate::names;

/// Performances of an operation in a round, and rounds: what is more is a slip of the keyboard.
const MOST: u64 = 10_000_000;

/// Says what is wrong, in words.
pub(crate) fn check(app: &Definition) -> Result<(), String> {
    let is_word = |name: &str| {
        !name.is_empty()
            && name.len() <= 60
            && name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-')
    };
    if !is_word(&app.name) {
        return Err(format!("the name '{}' is to be made of lower-case letters, digits and '-'", app.name));
    }
    if app.operations.is_empty() {
        return Err("there is no [[operation]] in it".to_owned());
    }
    if app.rounds > MOST {
        return Err(format!("rounds must be at most {MOST}"));
    }
    if app.operations.iter().all(|operation| operation.thread != MAIN) {
        return Err(format!("no operation is of the thread '{MAIN}', whose end is the end of the app"));
    }
    app.databases.iter().try_for_each(|(name, database)| of_database(name, database))?;
    for operation in app.prepare.iter().chain(&app.operations) {
        of_operation(app, operation).map_err(|why| format!("operation '{}': {why}", operation.name))?;
    }
    let twice = |one: &Operation| app.operations.iter().filter(|other| other.name == one.name).count() > 1;
    match app.operations.iter().find(|operation| twice(operation)) {
        Some(operation) => Err(format!("two operations are called '{}'", operation.name)),
        None => Ok(()),
    }
}

fn of_database(name: &str, database: &Database) -> Result<(), String> {
    let wrong = |why: String| Err(format!("database '{name}': {why}"));
    names::check(&database.file).or_else(wrong)?;
    if database.file.contains('{') {
        return wrong(format!("its file '{}' has a place to fill, but a database has one file", database.file));
    }
    let page = database.page.get();
    if !page.is_power_of_two() || !(512..=65_536).contains(&page) {
        return wrong(format!(
            "a page of {page} bytes is none that SQLite has\nhint: a power of two from 512 to 64KiB"
        ));
    }
    database.schema.iter().try_for_each(|sql| of_sql(sql)).or_else(wrong)
}

fn of_operation(app: &Definition, operation: &Operation) -> Result<(), String> {
    if operation.name.is_empty() {
        return Err("it needs a name".to_owned());
    }
    if operation.steps.is_empty() {
        return Err("it has no steps".to_owned());
    }
    if operation.times == 0 || operation.every == 0 || operation.times > MOST {
        return Err(format!("times and every must be from 1 to {MOST}"));
    }
    operation.steps.iter().try_for_each(|step| of_step(app, step))
}

fn of_step(app: &Definition, step: &Step) -> Result<(), String> {
    let piece = |chunk: flashscope_units::Bytes| match chunk.get() {
        1..=0x40_0000 => Ok(()),
        _ => Err("chunk must be from 1 byte to 4MiB".to_owned()),
    };
    match step {
        Step::Write { file, chunk, .. }
        | Step::Append { file, chunk, .. }
        | Step::Overwrite { file, chunk, .. }
        | Step::Read { file, chunk, .. }
        | Step::ReadOn { file, chunk, .. }
        | Step::ReadRandom { file, chunk, .. } => names::check(file).and_then(|()| piece(*chunk)),
        Step::Map { file, .. }
        | Step::Fsync { file }
        | Step::Fdatasync { file }
        | Step::Remove { file }
        | Step::Stat { file }
        | Step::Truncate { file, .. }
        | Step::Allocate { file, .. } => names::check(file),
        Step::Rename { file, to } => names::check(file).and_then(|()| names::check(to)),
        Step::MakeDir { dir } => names::check(dir),
        Step::SyncDir { dir } | Step::List { dir } if dir.is_empty() => Ok(()),
        Step::SyncDir { dir } | Step::List { dir } => names::check(dir),
        Step::DropCaches {} | Step::Wait { .. } => Ok(()),
        Step::Sql { database, statements } => {
            if !app.databases.contains_key(database) {
                let known: Vec<&str> = app.databases.keys().map(String::as_str).collect();
                return Err(format!("there is no database '{database}'\nhint: [databases] has {}", known.join(", ")));
            }
            for statement in statements {
                of_sql(&statement.sql)?;
                let places = statement.sql.matches('?').count();
                let values = statement.values.len();
                if places != values {
                    return Err(format!("'{}' has {places} places and {values} values", statement.sql));
                }
                if statement.times == 0 || statement.times > MOST {
                    return Err(format!("times of a statement must be from 1 to {MOST}"));
                }
            }
            Ok(())
        }
    }
}

/// A statement that reaches out of its database, or changes what holds for all of them. The player forbids them once more
/// to SQLite itself, which cannot be talked round by comments; this says it before anything was written.
fn of_sql(sql: &str) -> Result<(), String> {
    const NO: [&str; 9] =
        ["attach", "detach", "pragma", "load_extension", "vacuum", "begin", "commit", "rollback", "savepoint"];
    let words = sql.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).map(str::to_ascii_lowercase);
    match words.into_iter().find(|word| NO.contains(&word.as_str())) {
        Some(word) => Err(format!(
            "'{sql}' has the word '{word}', which is not for apps\nhint: journal and synchronous are keys of the database; a step `sql` is one transaction"
        )),
        None => Ok(()),
    }
}
