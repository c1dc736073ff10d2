//! A program that serves, and requests as raw as they have to be.

use flashscope_store::{Access, Store};
use serde_json::Value;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

/// A record of `bench` in virtual time, and what names its device in it.
pub(crate) const RECORD: &str = include_str!("../../../../fixtures/records/v1/bench-virtual.json");
const NAMES: [&str; 2] = ["FLAT8", "sim:sd-flat"];
const FIGURE: &str = "596.501227641468";

/// A device that is named like markup, a path and an event of its own.
pub(crate) const HOSTILE: &str = "<script>owned()</script><img src=x onerror=owned()>\"'&/../../etc\u{1b}[2J";

/// A record with a figure of its own, of a device of this name.
pub(crate) fn record(number: u32, name: &str) -> String {
    let figure = 590.0 + f64::from(number) * 1e-3;
    let mut record: Value = serde_json::from_str(&RECORD.replace(FIGURE, &figure.to_string())).unwrap();
    assert_eq!(record["device"]["name"], NAMES[0]);
    assert_eq!(record["target"], NAMES[1]);
    record["device"]["name"] = name.into();
    record["target"] = name.into();
    record.to_string()
}

/// A folder that goes with the test, and the program that was started in it.
pub(crate) struct Served {
    pub(crate) folder: PathBuf,
    child: Child,
    pub(crate) host: String,
    pub(crate) token: String,
}

/// An answer.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: String,
}

impl Answer {
    pub(crate) fn json(&self) -> Value {
        assert_eq!(self.status, 200, "{self:?}");
        serde_json::from_str(&self.body).unwrap()
    }
}

pub(crate) fn folder() -> PathBuf {
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let folder = std::env::temp_dir().join(format!("flashscope-serve-test-{}-{number}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

pub(crate) fn program(folder: &Path, words: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_flashscope-serve"));
    // What a killed program leaves among temporary files goes with the folder of the test.
    command.current_dir(folder).env("TMPDIR", folder);
    command.args(["--store", "history.db"]).args(words).stdin(Stdio::null());
    command
}

impl Served {
    /// A program over a history of these records.
    pub(crate) fn of(records: &[String], words: &[&str]) -> Served {
        let folder = folder();
        if !records.is_empty() {
            let kept = Store::open(&folder.join("history.db"), Access::Write).unwrap().add(records).unwrap();
            assert!(kept.iter().all(Result::is_ok), "{kept:?}");
        }
        Served::begin(folder, words)
    }

    pub(crate) fn begin(folder: PathBuf, words: &[&str]) -> Served {
        let mut command = program(&folder, &["--json", "--listen", "127.0.0.1:0"]);
        let mut child = command.args(words).stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let told: Value = serde_json::from_str(&line).unwrap();
        let (address, token) = told["url"].as_str().unwrap().split_once("/enter?token=").unwrap();
        let host = address.split_once("://").unwrap().1.to_owned();
        Served { folder, child, host, token: token.to_owned() }
    }

    /// Sends lines of a head as they are, and a body.
    pub(crate) fn raw(&self, head: &[String], body: &str) -> Answer {
        let mut stream = TcpStream::connect(&self.host).unwrap();
        let text =
            format!("{}\r\nConnection: close\r\nContent-Length: {}\r\n\r\n{body}", head.join("\r\n"), body.len());
        stream.write_all(text.as_bytes()).unwrap();
        answer(&mut stream)
    }

    /// With the token, and these lines beside it.
    pub(crate) fn ask(&self, path: &str, more: &[&str]) -> Answer {
        let mut head = vec![format!("GET {path} HTTP/1.1"), format!("Host: {}", self.host), self.cookie()];
        head.extend(more.iter().map(|line| (*line).to_owned()));
        self.raw(&head, "")
    }

    pub(crate) fn get(&self, path: &str) -> Answer {
        self.ask(path, &[])
    }

    pub(crate) fn cookie(&self) -> String {
        let port = self.host.rsplit_once(':').unwrap().1;
        format!("Cookie: other=1; flashscope-{port}={}", self.token)
    }

    /// A form as a page of ours sends it.
    pub(crate) fn send(&self, path: &str, form: &str) -> Answer {
        let secret = self.get("/runs").body.split("name=\"form\" value=\"").nth(1).unwrap()[..64].to_owned();
        self.post(path, &format!("form={secret}&{form}"), &[&format!("Origin: http://{}", self.host)])
    }

    pub(crate) fn post(&self, path: &str, body: &str, more: &[&str]) -> Answer {
        let form = "Content-Type: application/x-www-form-urlencoded".to_owned();
        let mut head = vec![format!("POST {path} HTTP/1.1"), format!("Host: {}", self.host), self.cookie(), form];
        head.extend(more.iter().map(|line| (*line).to_owned()));
        self.raw(&head, body)
    }
}

/// What comes until the other side has nothing more to say.
pub(crate) fn answer(stream: &mut impl Read) -> Answer {
    let mut bytes = Vec::new();
    // TLS may end without a farewell.
    let _ = stream.read_to_end(&mut bytes);
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
    let status = head.split(' ').nth(1).and_then(|word| word.parse().ok()).unwrap_or(0);
    let head = head.to_ascii_lowercase();
    let body = if head.contains("transfer-encoding: chunked") { joined(body) } else { body.to_owned() };
    Answer { status, head, body }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

/// A body that came in pieces, each behind its length.
fn joined(mut pieces: &str) -> String {
    let mut body = String::new();
    while let Some((length, rest)) = pieces.split_once("\r\n") {
        let length = usize::from_str_radix(length, 16).expect("the length of a piece");
        body.push_str(&rest[..length]);
        pieces = rest[length..].trim_start_matches("\r\n");
    }
    body
}
