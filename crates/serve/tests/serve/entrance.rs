//! Who is let in.

use crate::harness::{Served, folder, program, record};
use std::os::unix::fs::PermissionsExt;

fn served() -> Served {
    Served::of(&[record(1, "SECRET-NAME")], &[])
}

#[test]
fn without_the_token_nothing_is_learnt() {
    let served = served();
    let host = format!("Host: {}", served.host);
    let port = served.host.rsplit_once(':').unwrap().1;
    let wrong = format!("{}{}", &served.token[..63], if served.token.ends_with('0') { '1' } else { '0' });
    for path in ["/", "/records", "/records/1", "/api/records", "/assets/style.css", "/nowhere", "/events/runs"] {
        for said in [
            "X-None: 1".to_owned(),
            format!("Cookie: flashscope-{port}={wrong}"),
            format!("Authorization: Bearer {wrong}"),
        ] {
            let answer = served.raw(&[format!("GET {path} HTTP/1.1"), host.clone(), said], "");
            assert_eq!(answer.status, 401, "{path}: {answer:?}");
            assert!(!answer.body.contains("SECRET-NAME") && !answer.body.contains(&served.token), "{answer:?}");
        }
    }
    let bearer = format!("Authorization: Bearer {}", served.token);
    assert_eq!(served.raw(&["GET /api/records HTTP/1.1".to_owned(), host.clone(), bearer], "").status, 200);
    let wrong = served.raw(&[format!("GET /enter?token={wrong} HTTP/1.1"), host], "");
    assert!(wrong.status == 401 && !wrong.head.contains("set-cookie"), "{wrong:?}");
}

#[test]
fn the_token_is_exchanged_for_a_cookie_that_no_script_reads() {
    let served = served();
    let head = [format!("GET /enter?token={} HTTP/1.1", served.token), format!("Host: {}", served.host)];
    let answer = served.raw(&head, "");
    assert_eq!(answer.status, 303, "{answer:?}");
    assert!(answer.head.contains("location: /\r\n"), "no address keeps the token: {answer:?}");
    let cookie = answer.head.lines().find(|line| line.starts_with("set-cookie: ")).unwrap();
    assert!(
        cookie.contains("; httponly") && cookie.contains("; samesite=strict") && !cookie.contains("domain"),
        "{cookie}"
    );
}

#[test]
fn a_name_that_was_made_to_point_here_is_refused() {
    let served = served();
    let port = served.host.rsplit_once(':').unwrap().1;
    for host in
        ["evil.example", &format!("evil.example:{port}"), "127.0.0.1", "", &format!("localhost:{port}.evil.example")]
    {
        let head = ["GET /records HTTP/1.1".to_owned(), format!("Host: {host}"), served.cookie()];
        let answer = served.raw(&head, "");
        assert!(matches!(answer.status, 400 | 421), "{host}: {answer:?}");
    }
    let twice = [format!("Host: {}", served.host), "Host: evil.example".to_owned(), served.cookie()];
    let answer = served.raw(&[&["GET /records HTTP/1.1".to_owned()][..], &twice].concat(), "");
    assert!(matches!(answer.status, 400 | 421), "{answer:?}");
    let head = ["GET /records HTTP/1.1".to_owned(), format!("Host: localhost:{port}"), served.cookie()];
    assert_eq!(served.raw(&head, "").status, 200);
}

#[test]
fn another_page_can_neither_read_nor_send() {
    let served = served();
    for origin in
        ["http://evil.example", "null", "http://127.0.0.1", "https://127.0.0.1:1", "http://localhost.evil.example"]
    {
        assert_eq!(served.ask("/records", &[&format!("Origin: {origin}")]).status, 403, "{origin}");
        assert_eq!(served.post("/runs", "form=0", &[&format!("Origin: {origin}")]).status, 403, "{origin}");
    }
    assert_eq!(served.post("/runs", "form=0", &[]).status, 403, "a form whose page nobody says");
    assert_eq!(served.ask("/records", &["Sec-Fetch-Site: cross-site"]).status, 403);
    let own = format!("Origin: http://{}", served.host);
    let form = format!("form={}&model=sd-4mib&work=inspect", "0".repeat(64));
    assert_eq!(served.post("/runs", &form, &[&own]).status, 400, "a form without our secret");
    assert_eq!(served.get("/api/runs").json().as_array().unwrap().len(), 0, "nothing was started");
}

#[test]
fn every_answer_forbids_what_pages_of_others_could_do() {
    let served = served();
    for path in ["/", "/records", "/records/1", "/records/1/report.html", "/api/records", "/nowhere", "/assets/live.js"]
    {
        let answer = served.get(path);
        let policy = answer.head.lines().find(|line| line.starts_with("content-security-policy: ")).unwrap();
        assert!(policy.contains("default-src 'none'") && policy.contains("frame-ancestors 'none'"), "{path}: {policy}");
        let scripts = policy.split(';').find(|part| part.contains("script-src")).unwrap_or_default();
        assert!(!scripts.contains("unsafe") && !policy.contains("http"), "{path}: {policy}");
        assert!(
            answer.head.contains("x-content-type-options: nosniff") && answer.head.contains("x-frame-options: deny"),
            "{path}"
        );
        assert!(!answer.head.contains("access-control"), "{path}: no CORS");
    }
    let strict = served.get("/records").head;
    assert!(
        strict.contains("style-src 'self'; script-src 'self'") && strict.contains("cache-control: no-store"),
        "{strict}"
    );
}

#[test]
fn another_address_than_loopback_needs_tls() {
    let folder = folder();
    let refused = |words: &[&str], says: &str| {
        let ran = program(&folder, words).output().unwrap();
        let said = String::from_utf8_lossy(&ran.stderr).into_owned();
        assert!(ran.status.code() == Some(2) && said.contains(says) && said.contains("hint: "), "{words:?}: {said}");
        assert!(ran.stdout.is_empty() && !said.contains("token="), "{said}");
    };
    refused(&["--listen", "0.0.0.0:0"], "without TLS");
    refused(&["--listen", "192.0.2.7:0", "--name", "bench.lan"], "without TLS");
    refused(&["--listen", "[::]:0"], "without TLS");
    std::fs::write(folder.join("junk.pem"), "no certificate").unwrap();
    let junk = ["--listen", "0.0.0.0:0", "--certificate", "junk.pem", "--key", "junk.pem"];
    refused(&junk, "--name HOST");
    refused(&[&junk[..], &["--name", "bench.lan"]].concat(), "holds no certificate");
    refused(&["--lab", "."], "no directory of a lab");
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn a_kept_token_is_its_owners_alone() {
    let folder = folder();
    let token = {
        let served = Served::begin(folder.clone(), &["--token", "token"]);
        let mode = std::fs::metadata(folder.join("token")).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        let text = std::fs::read_to_string(folder.join("token")).unwrap();
        assert_eq!(text.trim(), served.token);
        text
    };
    // The folder went with what was served from it.
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join("token");
    std::fs::write(&path, &token).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o644)).unwrap();
    let ran = program(&folder, &["--token", "token"]).output().unwrap();
    assert!(ran.status.code() == Some(2) && String::from_utf8_lossy(&ran.stderr).contains("others may read"));
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
    assert_eq!(Served::begin(folder, &["--token", "token"]).token, token.trim());
}
