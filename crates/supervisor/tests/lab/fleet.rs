//! A fleet over many hosts is the fleet of one host.

use crate::harness::{Place, flashscope};
use crate::server::{Process, Server, there_is_one};
use serde_json::Value;
use std::process::{Command, Stdio};

/// Few, and each with next to nothing to do.
const WORDS: [&str; 9] = [
    "fleet",
    "--devices=10",
    "--seed=7",
    "--first=3",
    "--noise=field",
    "--max-time=1s",
    "--max-write=1M",
    "--no-naive",
    "--json",
];

/// What of a record is processor time: figures, and who took the most of it.
fn without_work(text: &str) -> String {
    fn forget(value: &mut Value) {
        match value {
            Value::Object(fields) => {
                fields.retain(|name, _| !matches!(name.as_str(), "processor_time_s" | "slowest"));
                fields.values_mut().for_each(forget);
            }
            Value::Array(items) => items.iter_mut().for_each(forget),
            _ => {}
        }
    }
    let mut record: Value = serde_json::from_str(text).expect("a record");
    forget(&mut record);
    serde_json::to_string_pretty(&record).expect("JSON")
}

fn started(command: &mut Command) -> Process {
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    Process(command.spawn().expect("it starts"))
}

/// The main program, which asks the lab as the operator.
fn fleet(server: &Server<'_>, words: &[&str]) -> Command {
    let mut command = server.place.program(flashscope());
    command.args(words).args(["--lab", &server.address()]);
    let file = |name: &str| server.place.path("nats").join(name);
    command.arg("--ca").arg(file("ca.pem")).arg("--token").arg(file("tokens/operator"));
    command
}

fn ended(mut process: Process) -> (Option<i32>, String, String) {
    let read = |from: Option<&mut dyn std::io::Read>| {
        let mut text = String::new();
        from.map(|from| from.read_to_string(&mut text));
        text
    };
    let stdout = read(process.0.stdout.as_mut().map(|out| out as &mut dyn std::io::Read));
    let stderr = read(process.0.stderr.as_mut().map(|out| out as &mut dyn std::io::Read));
    (process.0.wait().expect("it ends").code(), stdout, stderr)
}

#[test]
fn a_fleet_over_two_agents_one_of_them_killed_is_the_fleet_of_one_host_byte_for_byte() {
    if !there_is_one() {
        return;
    }
    let place = Place::new();
    let server = Server::start(&place);
    let _coordinator = server.stays(&["coordinator", "--lease", "2s"], "coordinator");
    let waiting = started(&mut fleet(&server, &WORDS));
    server.until("the fleet is handed in", || server.runs().len() == 3);
    // Stopped before anybody works, it says what is left and keeps the plan.
    let pid = rustix::process::Pid::from_raw(waiting.0.id() as i32).expect("a number");
    rustix::process::kill_process(pid, rustix::process::Signal::INT).expect("it is told");
    let (code, _, said) = ended(waiting);
    assert_eq!(code, Some(2), "{said}");
    assert!(said.contains("no device was done"), "{said}");
    let mut first = server.stays(&["agent", "--cores", "1"], "a");
    let going = started(&mut fleet(&server, &WORDS));
    server.until("the first agent holds some", || server.runs().iter().any(|run| run["state"] == "leased"));
    first.kill();
    let _second = server.stays(&["agent", "--cores", "2"], "b");
    let (code, joined, said) = ended(going);
    assert_eq!(code, Some(0), "{said}");
    let alone = place.program(flashscope()).args(WORDS).output().expect("it starts");
    let alone = String::from_utf8(alone.stdout).expect("text");
    assert_eq!(without_work(&joined), without_work(&alone));
    assert!(alone.matches("\"device_time_ns\"").count() >= 20, "two costs of each of ten devices are compared");
    assert!(server.runs().iter().all(|run| run["failures"] == 0), "{:?}", server.runs());
    // The same again hands nothing out.
    let (code, again, said) = ended(started(&mut fleet(&server, &WORDS)));
    assert_eq!((code, without_work(&again)), (Some(0), without_work(&alone)), "{said}");
    // A network that others could hear is not spoken to.
    let mut open = place.program(flashscope());
    open.args(WORDS).args(["--lab", "nats://192.0.2.1:4222", "--token"]);
    let refused = open.arg(place.path("nats/tokens/operator")).output().expect("it starts");
    assert_eq!(refused.status.code(), Some(3), "{}", String::from_utf8_lossy(&refused.stderr));
}
