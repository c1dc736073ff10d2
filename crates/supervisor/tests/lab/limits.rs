//! How many emulated cards this host holds. No clock decides: what is found depends on the host, that it is written does not.

use crate::harness::Place;
use std::path::Path;

#[test]
fn the_limit_is_measured_and_written_and_all_else_of_the_file_stays() {
    if !rustix::process::geteuid().is_root() || !Path::new("/dev/fuse").exists() {
        eprintln!("LEFT OUT: how many emulated cards this host holds (it needs root and /dev/fuse)");
        return;
    }
    let place = Place::new();
    let rest = "[power.rack]\noff = \"true\"\non = \"true\"\n";
    std::fs::write(place.path("host.toml"), format!("at-once = 7\n{rest}")).unwrap();
    let words = ["limits", "--most", "2", "--time", "200ms", "--write", "--host", "host.toml", "--json"];
    let run = place.run(&words);
    run.expect(0);
    let found: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    let at_once = found["at_once"].as_u64().unwrap();
    assert!(
        (1..=2).contains(&at_once)
            && found["steps"].as_array().unwrap().len() == 2.min(1 + found["holds"].as_u64().unwrap() as usize),
        "{found}"
    );
    assert!(found["steps"][0]["lateness_ns_p99"].as_u64().unwrap() > 0, "{found}");
    assert_eq!(std::fs::read_to_string(place.path("host.toml")).unwrap(), format!("at-once = {at_once}\n{rest}"));
    std::fs::write(place.path("host.toml"), "allow = true\n").unwrap();
    place.run(&words).expect(2);
    assert_eq!(std::fs::read_to_string(place.path("host.toml")).unwrap(), "allow = true\n");
}
