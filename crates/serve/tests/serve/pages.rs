//! What pages show.

use crate::harness::{HOSTILE, Served, record};
use std::collections::BTreeSet;

/// As it stands in an address.
fn coded(text: &str) -> String {
    text.bytes().map(|byte| format!("%{byte:02X}")).collect()
}

#[test]
fn hostile_names_are_text_on_every_page() {
    let mut records: Vec<String> = (0..30).map(|number| record(number, HOSTILE)).collect();
    records.push(record(99, "SD08G"));
    let served = Served::of(&records, &[]);
    let part = coded(HOSTILE);
    let figure =
        served.get(&format!("/api/device?part={part}")).json()["trends"][0]["figure"].as_str().unwrap().to_owned();
    let paths = [
        "/".to_owned(),
        "/records".to_owned(),
        "/records?q=%3Cscript%3E".to_owned(),
        format!("/records?q={part}&part={part}&kind=bench"),
        "/records/1".to_owned(),
        "/records/1/report.html".to_owned(),
        "/devices".to_owned(),
        format!("/device?part={part}"),
        "/trends".to_owned(),
        format!("/trend?part={part}&figure={}", coded(&figure)),
        format!("/trend?part={part}&figure={part}"),
        format!("/records?kind={part}"),
        format!("/records?older={part}"),
        format!("/compare?ids={part}"),
        format!("/nowhere/{part}"),
    ];
    let mut shown = 0;
    for path in &paths {
        let answer = served.get(path);
        assert!((200..500).contains(&answer.status), "{path}: {answer:?}");
        // A field holds what was sent to it to the letter, and a report its names: no page acts on an escape sequence.
        let is_verbatim = path.contains("q=") || path.starts_with("/records/");
        let escaped = answer.body.contains('\u{1b}') && !is_verbatim;
        let is_markup =
            ["<script>owned", "<img", "\" onerror", "' onerror"].iter().any(|text| answer.body.contains(text));
        assert!(!is_markup && !escaped, "{path}: {}", answer.body);
        shown += usize::from(answer.body.contains("&lt;script&gt;owned()"));
    }
    assert!(shown >= 6, "the names are there, as text: {shown}");
    assert!(!served.get("/records/1/record.json").head.contains("owned"), "no file is named as a device is");
    let found = served.get("/api/records?q=%3CSCRIPT").json();
    assert_eq!(found["records"].as_array().unwrap().len(), 30, "whatever the case of its letters");
}

#[test]
fn a_list_goes_on_where_the_last_page_ended() {
    let records: Vec<String> =
        (0..120).map(|number| record(number, if number % 3 == 0 { "odd" } else { "card" })).collect();
    let served = Served::of(&records, &[]);
    let walk = |conditions: &str, begin: &str, on: &str| {
        let (mut seen, mut path) = (Vec::new(), format!("/api/records?{conditions}{begin}"));
        loop {
            let page = served.get(&path).json();
            let ids: Vec<i64> =
                page["records"].as_array().unwrap().iter().map(|one| one["id"].as_i64().unwrap()).collect();
            assert!(ids.windows(2).all(|pair| pair[0] > pair[1]), "newest first: {ids:?}");
            seen.push(ids);
            match page[on].as_str() {
                Some(place) => path = format!("/api/records?{conditions}{on}={place}"),
                None => return seen,
            }
        }
    };
    let all = walk("", "", "older");
    assert_eq!(all.iter().map(Vec::len).collect::<Vec<_>>(), [50, 50, 20]);
    assert_eq!(all.concat().into_iter().collect::<BTreeSet<_>>().len(), 120);
    let back = walk("", "end=oldest", "newer");
    assert_eq!(back.concat().into_iter().collect::<BTreeSet<_>>().len(), 120);
    assert_eq!(walk("q=od&", "", "older").concat().len(), 40);
    assert_eq!(walk("q=od&kind=bench&", "", "older").concat().len(), 40);
    assert_eq!(walk("q=CARD&", "", "older").concat().len(), 80);
    assert_eq!(walk("part=card&", "", "older").concat().len(), 80);
    assert_eq!(walk("kind=inspect&", "", "older").concat().len(), 0);
    assert_eq!(served.get("/api/records?before=2001-01-01").json()["records"].as_array().unwrap().len(), 0);
    let devices = served.get("/api/devices").json();
    assert_eq!(devices["devices"][0]["records"], 80);
    assert_eq!(devices["devices"][1]["part"], "odd");
}

#[test]
fn a_record_is_shown_as_its_report_and_given_back_byte_for_byte() {
    let text = record(1, "SD08G");
    let served = Served::of(std::slice::from_ref(&text), &[]);
    let report = flashscope_report::any_html(&flashscope_record::read(&text).unwrap());
    assert_eq!(served.get("/records/1/report.html").body, report);
    assert_eq!(served.get("/records/1/record.json").body, text);
    let page = served.get("/records/1");
    assert!(page.body.contains("href=\"/compare?id=1\"") && page.body.contains("<main id=\"main\""), "{}", page.body);
    let (_, below) = page.body.split_once("</header><style>").unwrap();
    let (_, below) = below.split_once("</style>").unwrap();
    let without_bar = below.replace("<main id=\"main\" tabindex=\"-1\">", "<main>");
    assert!(report.ends_with(without_bar.as_str()), "below the bar it is the report");
}

#[test]
fn what_makes_no_sense_is_answered_and_no_path_leads_out() {
    let served = Served::of(&[record(1, "SD08G")], &[]);
    for (path, status) in [
        ("/records/2", 404),
        ("/records/-1", 404),
        ("/records/x", 400),
        ("/records/99999999999999999999", 400),
        ("/records/..%2f..%2fetc%2fpasswd", 400),
        ("/labs/0", 404),
        ("/labs/0/runs/..%2f..", 400),
        ("/assets/../../Cargo.toml", 404),
        ("/assets/%2e%2e/style.css", 404),
        ("/records?older=x", 400),
        ("/records?before=never", 400),
        ("/device?part=", 404),
        ("/compare?id=1&id=7", 404),
        ("/compare?id=1", 200),
    ] {
        let answer = served.get(path);
        assert_eq!(answer.status, status, "{path}: {answer:?}");
    }
    let many: String = (0..40).map(|id| format!("id={id}&")).collect();
    assert_eq!(served.get(&format!("/compare?{many}")).status, 400);
    let empty = Served::of(&[], &[]);
    for path in ["/", "/records", "/devices", "/trends", "/labs", "/runs"] {
        assert_eq!(empty.get(path).status, 200, "{path}: a history that nobody began is no fault");
    }
}
