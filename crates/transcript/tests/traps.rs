//! What people, terminals and forums do to logs, one trap per test.

use flashscope_model::observation::{
    AlignEvidence, FatData, IntervalEvidence, OpenUnitsData, RateEvidence, ScatterData,
};
use flashscope_model::{Data, Order};
use flashscope_transcript::{Parsed, parse, parse_bytes};
use flashscope_units::{Bytes, Nanos};

/// One line per run: name, rows, and what tells it from its neighbours.
fn runs(text: &str) -> Vec<String> {
    let name = |run: &flashscope_model::Run| match &run.data {
        Data::Align(align) => {
            format!("{} {:?} {}", run.data.name(), align.block.map(|block| block.0), align.rows.len())
        }
        Data::OpenUnits(open) => format!("open {:?} {:?} {}", open.count, open.order, open.rows.len()),
        Data::Fat(fat) => format!("fat {:?} {}x{}", fat.order, fat.rows.len(), fat.rows[0].units.len()),
        Data::Program(program) => format!("program {}x{}", program.rows.len(), program.rows[0].columns.len()),
        Data::Interval(interval) => format!("interval {}", interval.rows.len()),
        Data::Scatter(scatter) => format!("scatter {}", scatter.places.len()),
        other => other.name().to_string(),
    };
    parse(text).observations.runs.iter().map(name).collect()
}

/// `pre`, `on`, `post`, `diff` of the only run's only row, in nanoseconds.
fn align_row(text: &str) -> [Option<f64>; 4] {
    let parsed = parse(text);
    let [run] = parsed.observations.runs.as_slice() else { panic!("{text}: {:?}", parsed.observations.runs) };
    let Data::Align(align) = &run.data else { panic!("{text}") };
    let AlignEvidence::Printed { pre, on, post, diff } = &align.rows[0].evidence else { panic!("{text}") };
    [pre, on, post, diff].map(|figure| figure.map(|figure| figure.value.0.round()))
}

fn rates(text: &str) -> Vec<(u64, Vec<f64>)> {
    let value = |evidence: &RateEvidence| match evidence {
        RateEvidence::Printed(printed) => printed.value.0.round(),
        RateEvidence::Times(_) => panic!("a log has no samples"),
    };
    let parsed = parse(text);
    let mut rows = Vec::new();
    for run in &parsed.observations.runs {
        match &run.data {
            Data::OpenUnits(OpenUnitsData { rows: open, .. }) => {
                rows.extend(open.iter().map(|row| (row.block.0, vec![value(&row.rate)])));
            }
            Data::Fat(FatData { rows: fat, .. }) => {
                rows.extend(fat.iter().map(|row| (row.block.0, row.units.iter().map(value).collect())));
            }
            other => panic!("{other:?}"),
        }
    }
    rows
}

#[test]
fn cut_off_differences_get_their_power_from_their_row() {
    let check = |row: &str, expect: Option<f64>| assert_eq!(align_row(row)[3], expect, "{row}");
    check("write align 8388608 pre 121ms on 7.76ms post 116ms diff -110845", Some(-110_845_000.0));
    check("write align 524288 pre 49.3ms on 31.4ms post 14.9ms diff -679265", Some(-679_265.0));
    check("write align 16384 pre 44.5ms on 5.05ms post 33.3ms diff -338542", Some(-33_854_200.0));
    check("align 4096 pre 4.886s on 1.968s post 3.613s diff -228185", Some(-2_281_850_000.0));
    // Nothing to choose it by, more than one that fits, and nothing that does.
    check("write align 16384 pre 44.5ms on 5.05ms diff -338542", None);
    check("align 4294967296 pre 106ms on 116ms post 127ms diff -114025", None);
    check("write align 16384 pre 44.5ms on 5.05ms post 33.3ms diff -711111", None);
    check("write align 16384 pre 5.05ms on 44.5ms post 5.05ms diff -338542", None);
}

#[test]
fn units_in_disguise() {
    let expect = [Some(694e3), Some(937e3), Some(689e3), Some(246e3)];
    for unit in [
        "us",
        "µs",
        "μs",
        "Âµs",
        "Ã‚Âµs",
        "?s",
        "\u{FFFD}s",
        "Вµs",
        "┬╡s",
        "&micro;s",
        "&#181;s",
        "&amp;micro;s",
        " us",
        "s",
    ] {
        let row = format!("align 4194304 pre 694{unit} on 937{unit} post 689{unit} diff 246{unit}");
        assert_eq!(align_row(&row), expect, "{row}");
    }
    let bytes = b"align 4194304\tpre 694\xb5s\ton 937\xb5s\tpost 689\xb5s\tdiff 246\xb5s\r\n";
    assert_eq!(parse_bytes(bytes).observations.runs.len(), 1);
    assert_eq!(
        align_row("align 4096 pre 535n on 1e+03µ post 1,07ms diff -90026n"),
        [Some(535.0), Some(1e6), Some(1.07e6), Some(-90_026.0)]
    );
    // Seconds are seconds where nothing says that a µ was lost.
    assert_eq!(align_row("align 4096 pre 4.886s on 1.968s post 3.613s diff 1.2s")[0], Some(4.886e9));
    // A lost µ shows in the row, even where the table has no other.
    assert_eq!(align_row("align 4096 pre 1.26ms on 1.28ms post 1.27ms diff 14.7s")[3], Some(14_700.0));
}

#[test]
fn noise_inside_rows() {
    let expect = [Some(694e3), Some(937e3), Some(689e3), Some(246e3)];
    for row in [
        "^Calign 4194304 pre 694us on 937us post 689us diff 246us",
        "align 4194304 pre 69^C4us on 937us post 689us diff 246us",
        "\u{1b}[0;33malign 4194304\u{1b}[0m pre 694us on 937us post 689us diff 246us\u{1b}[K",
        "align 4194304 pre 694us [root@box ~]# on 937us post 689us diff 246us^C",
        "> > align 4194304 pre 694us on 937us post 689us diff 246us",
        "| align 4194304 | pre 694us | on 937us | post 689us | diff 246us |",
        "[   12.345] align 4194304 pre 694us on 937us post 689us diff 246us",
        "2011-03-04 10:22:33 align 4194304 pre 694us on 937us post 689us diff 246us",
        "align 4194304\u{a0}pre\u{3000}694us\u{2003}on 937us post 689us diff 246us",
        "<tr><td>align 4194304</td><td>pre 694us</td><td>on 937us</td><td>post 689us</td><td>diff 246us</td></tr>",
        "align 4194304 pre 694us on\n937us post 689us diff 246us",
        "align 4194304 pre 694us on 937us po\nst 689us diff 246us",
        "align 4194304 pre 694us\non 937us\npost 689us\ndiff 246us",
        "a\0l\0i\0g\0n\0 4194304 pre 694us on 937us post 689us diff 246us",
    ] {
        assert_eq!(align_row(row), expect, "{row:?}");
    }
    assert_eq!(align_row("align 4096 pre 694us on 93^C\n$ ls"), [Some(694e3), None, None, None]);
    assert_eq!(runs("a 1\ralign 8192 pre 1us on 2us post 3us diff 4us\ralign 4096 pre 1us"), ["align None 2"]);
    assert_eq!(runs("<p>align 8192 pre 1us on 2us<br>align 4096 pre 1us on 2us</p>"), ["align None 2"]);
}

#[test]
fn rates_in_disguise() {
    let check = |text: &str, expect: &[(u64, &[f64])]| {
        let expect: Vec<_> = expect.iter().map(|(block, cells)| (*block, cells.to_vec())).collect();
        assert_eq!(rates(text), expect, "{text:?}");
    };
    let open = "$ flashbench -O --open-au-nr=2 /dev/x\n";
    check(
        &format!("{open}4MiB 10.1M/s\n2MiB 6.16MB/s\n1MiB 1.736G/"),
        &[(4 << 20, &[10.1e6]), (2 << 20, &[6.16e6]), (1 << 20, &[1.736e9])],
    );
    check(&format!("{open}> 4MiB\t10,1M/s\n> 2MiB    1e+03K/ \n"), &[(4 << 20, &[10.1e6]), (2 << 20, &[1e6])]);
    check(&format!("{open}512KiB 231B/s\n^C256KiB  2M/s root@box:~# "), &[(512 << 10, &[231.0]), (256 << 10, &[2e6])]);
    check(
        &format!("{open}3MiB 1M/s\n1.5MiB 1M/s\n768KiB 1M/s"),
        &[(3 << 20, &[1e6]), (3 << 19, &[1e6]), (768 << 10, &[1e6])],
    );
    // 25·2^k: labels are rounded to three digits.
    check(
        &format!("{open}6.25MiB 1M/s\n3.12MiB 1M/s\n1.56MiB 1M/s"),
        &[(25 << 18, &[1e6]), (25 << 17, &[1e6]), (25 << 16, &[1e6])],
    );
    let fat = "# flashbench -f /dev/x\n";
    check(
        &format!("{fat}4MiB    4.11M/s  8.03M/s  \n2MiB 4M/s 8.4M/s   "),
        &[(4 << 20, &[4.11e6, 8.03e6]), (2 << 20, &[4e6, 8.4e6])],
    );
    // Wrapped, and cut.
    check(
        &format!("{fat}4MiB 4M/s 8M/s\n 9M/s 1M/s\n2MiB 4M/s 8M/s 9M/s 1."),
        &[(4 << 20, &[4e6, 8e6, 9e6, 1e6]), (2 << 20, &[4e6, 8e6, 9e6])],
    );
    check(&format!("{open}4MiB\n2MiB 10.\n1MiB 3M/s is slow, is it not?"), &[]);
}

#[test]
fn tables_end_where_the_next_begins() {
    let row = |align: u64| format!("align {align} pre 1us on 2us post 3us diff 4us\n");
    let table: String = [8192, 4096, 2048].map(row).concat();
    let again = table.replace("on 2us", "on 3us");
    assert_eq!(runs(&format!("{table}{again}")), ["align None 3", "align None 3"]);
    assert_eq!(runs(&format!("{table}write {}", row(1024))), ["align None 3", "write-align None 1"]);
    let commands = format!("$ flashbench -a -b 1024 /dev/x\n{table}$ flashbench -a -b 4096 /dev/x\n{}", row(8192));
    assert_eq!(runs(&commands), ["align Some(1024) 3", "align Some(4096) 1"]);
    assert_eq!(
        runs("$ flashbench -O --open-au-nr=3 /dev/x\n4MiB 1M/s\n2MiB 1M/s\n4MiB 1M/s\n2MiB 1M/s\n"),
        ["open Some(3) InOrder 2", "open Some(3) InOrder 2"]
    );
    assert_eq!(
        runs(
            "$ for n in 1 2 5; do flashbench -O -r --open-au-nr=$n /dev/x; done\n4MiB 1M/s\n2MiB 1M/s\n4MiB 1M/s\n4MiB 1M/s"
        ),
        ["open Some(1) Random 2", "open Some(2) Random 1", "open Some(5) Random 1"]
    );
    assert_eq!(
        runs(
            "$ for n in 1 2; do echo; flashbench -O --open-au-nr=$n /dev/x; done\n== open AU ==\n4MiB 1M/s\n== open AU ==\n4MiB 1M/s\n"
        ),
        ["open Some(1) InOrder 1", "open Some(2) InOrder 1"]
    );
    let headings = "==== Random access ====\n== AU=1 ==\n4MiB 1M/s\n== AU=2 ==\n== AU=3, linear access ==\n4MiB 1M/s\n";
    assert_eq!(runs(headings), ["open Some(1) Random 1", "open Some(3) InOrder 1"]);
}

#[test]
fn commands_in_disguise() {
    let check = |command: &str, expect: &str| {
        let table = "4MiB 10M/s\n2MiB 9M/s\n";
        assert_eq!(runs(&format!("{command}\n{table}")), [expect], "{command}");
    };
    check("root@box:~# ./flashbench -O -0 5 -e 4194304 /dev/sdb", "open Some(5) InOrder 2");
    check("$ sudo ./flashbench -O --erasesize=$[4 * 1024 * 1024] \\\n\t--open-au-nr=2 -r", "open Some(2) Random 2");
    check(
        "$ sudo ./flashbench -O --erasesize=$[4 * 1024 * 1024]\n--blocksize=$[256 * 1024] /dev/sdb --open-au-nr=2",
        "open Some(2) InOrder 2",
    );
    check("`flashbench --open-au –open-au-nr=7 --random /dev/sdb`", "open Some(7) Random 2");
    check("&gt; flashbench --open-au --open-au-nr 4 /dev/sdb", "open Some(4) InOrder 2");
    check("time flashbench -O --open-au-nr=4 /dev/sdb | tee log", "open Some(4) InOrder 2");
    check("flashbench -f -r /dev/sdb", "fat Some(Random) 2x1");
}

#[test]
fn what_is_unknown_stays_unknown() {
    // A table that nothing introduces.
    let parsed = parse("4MiB 10M/s\n2MiB 9M/s\n");
    assert_eq!((parsed.observations.runs.len(), parsed.notes.len()), (0, 1));
    // A command whose count cannot be read.
    assert_eq!(runs("$ flashbench -O --open-au-nr=$N /dev/x\n4MiB 10M/s"), ["open None InOrder 1"]);
    // A heading without rows.
    assert_eq!(runs("======= AU=3, random access =======\n======= AU=4, random access ======="), [""; 0]);
    // Tries and the block size without a command; a command that the table contradicts.
    let parsed = parse("align 2048 pre 1us on 2us post 3us diff 4us");
    let Data::Align(align) = &parsed.observations.runs[0].data else { panic!() };
    let AlignEvidence::Printed { pre: Some(pre), .. } = align.rows[0].evidence else { panic!() };
    assert_eq!((align.block, pre.tries, pre.places), (None, None, Some(7)));
    assert_eq!(runs("# flashbench -a /dev/x\nalign 2048 pre 1us on 2us post 3us diff 4us"), ["align None 1"]);
}

#[test]
fn a_run_that_was_cut_short_is_not_complete() {
    let complete = |text: &str| parse(text).observations.runs.iter().map(|run| run.complete).collect::<Vec<_>>();
    let open = "$ flashbench -O --open-au-nr=2 -b 2097152 /dev/x\n4MiB 10M/s\n";
    assert_eq!(complete(open), [false]);
    assert_eq!(complete(&format!("{open}2MiB 10M/s\n")), [true]);
    let align = "$ flashbench -a -b 2048 /dev/x\nalign 8192 pre 1us on 2us post 3us diff 4us\n";
    assert_eq!(complete(align), [false]);
    assert_eq!(complete(&format!("{align}align 4096 pre 1us on 2us post 3us diff 4us")), [true]);
}

#[test]
fn other_tools_yield_nothing() {
    for text in [
        "104857600 bytes (105 MB, 100 MiB) copied, 6.2 s, 16.9 MB/s",
        "/dev/sdb:\n Timing buffered disk reads:  64 MB in  3.06 seconds =  20.9 MB/sec",
        "   READ: bw=10.1MiB/s (10.6MB/s), 10.1MiB/s-10.1MiB/s (10.6MB/s-10.6MB/s), io=606MiB (635MB), run=60001msec\n    clat (usec): min=408, max=924, avg=493.11, stdev=12.3\n  4096 10.1 20.2",
        "              kB  reclen    write  rewrite    read    reread\n          102400       4     1024     1100     9000     9100\n          102400      16     4096     4100    19000    19100",
        "Name  Size  Seq\n4MB 10 MB in 3 s",
        "100%[=======>] 4,194,304   10.1M/s   in 0.4s",
        "64 bytes from 10.0.0.1: icmp_seq=1 ttl=64 time=0.5 ms",
        "0.1 0.2\n0.3 0.4\n0.5 0.6",
        "1.000000 2.000000\n5.000000 3.000000",
        "align 4096\nPartition 1 does not start on physical sector boundary.\nalign-check 1",
    ] {
        let parsed = parse(text);
        assert_eq!(parsed.observations.runs, [], "{text}");
        assert_eq!(parsed.capacity, None, "{text}");
    }
    // Nor inside a flashbench session: another command ends the table.
    let session = "# flashbench -O --open-au-nr=2 /dev/x\n4MiB 1M/s\n# dd if=/dev/zero of=/dev/x bs=1M\n2MiB 9M/s\n";
    assert_eq!(runs(session), ["open Some(2) InOrder 1"]);
}

#[test]
fn scatter_plots() {
    let plot: String = (0..256)
        .map(|n| format!("{:.6}\t{:.6}\n", f64::from(n) * 4096.0 / 1048576.0, 0.2 + f64::from(n) / 1e4))
        .collect();
    let command = "$ flashbench -s --scatter-order=8 --scatter-span=3 -b 4096 /dev/x\n";
    for (text, length) in [(plot.clone(), None), (format!("{command}{plot}"), Some(Bytes(12288)))] {
        let parsed = parse(&text);
        let [run] = parsed.observations.runs.as_slice() else { panic!() };
        let Data::Scatter(ScatterData { length: got, places }) = &run.data else { panic!() };
        assert_eq!((*got, places.len(), run.complete), (length, 256, true));
        assert_eq!((places[3].at, places[3].times.as_slice()), (Bytes(12288), [Nanos(200_300)].as_slice()));
        assert!(places.iter().all(|place| place.at.0 % 4096 == 0));
    }
}

#[test]
fn interval_tables() {
    let text = "$ flashbench -i --interval-order=2 -c 4 /dev/x\n512 bytes: min 408us avg 493us max 1.02ms: 1.25414 MB/s\n1024 bytes: min 439us avg 462us max 508us: 2.33469 MB/s\n38.4339 MB/s, 62.2us access time\nbytes 512, time 408248 overhead 332736\nbytes 1024, time 438602 overhead 349769\n";
    let minima = |text: &str| -> Vec<(f64, f64)> {
        let parsed = parse(text);
        let [run] = parsed.observations.runs.as_slice() else { panic!("{parsed:?}") };
        let Data::Interval(interval) = &run.data else { panic!() };
        let min = |evidence: &IntervalEvidence| match evidence {
            IntervalEvidence::Printed { min: Some(min), .. } => (min.value.0, min.quantum.0.round()),
            other => panic!("{other:?}"),
        };
        interval.rows.iter().map(|row| min(&row.evidence)).collect()
    };
    assert_eq!(minima(text), [(408_248.0, 1.0), (438_602.0, 1.0)]);
    // Only the lines below the table, or only the table, whose rate has six digits.
    assert_eq!(minima(text.split_once("time\n").unwrap().1), [(408_248.0, 1.0), (438_602.0, 1.0)]);
    let by_rate = minima(text.split_once("38.4339").unwrap().0);
    assert!((by_rate[0].0 - 408_248.0).abs() < 3.0, "{by_rate:?}");
    // Without the rate three digits are left, and a rate that belongs to another row is not believed.
    assert_eq!(minima("512 bytes: min 408us avg 493us max 1.02ms"), [(408_000.0, 1000.0)]);
    assert_eq!(minima("512 bytes: min 408us avg 493us max 1.02ms: 9.25414 MB/s"), [(408_000.0, 1000.0)]);
    assert_eq!(runs(&format!("{text}{}", text.replace("40824", "40825"))).len(), 2);
}

#[test]
fn program_tables() {
    let row = |block: &str| format!("{block} {}\n", "1M/s ".repeat(8));
    let table = ["2MiB", "1MiB", "512B"].map(row).concat();
    assert_eq!(runs(&format!("~ # flashbench -p /dev/x\n{table}")), ["program 3x8"]);
    assert_eq!(runs(&table), ["program 3x8"]);
    assert_eq!(runs(&format!("4MiB {}\n{table}", "1M/s ".repeat(8))), ["fat None 4x8"]);
}

fn device(text: &str) -> (Option<u64>, usize) {
    let Parsed { capacity, notes, .. } = parse(text);
    (capacity.map(Bytes::get), notes.len())
}

#[test]
fn capacity_is_that_of_the_tested_device() {
    let flashbench = "# flashbench -a /dev/mmcblk0\n";
    let card = Some(7_948_206_080);
    let check = |text: &str, expect: Option<u64>, notes: usize| assert_eq!(device(text), (expect, notes), "{text}");
    check("7742 МБ, 7742685184 байт", Some(7_742_685_184), 0);
    check("# blockdev --getsize64 /dev/mmcblk0\n7948206080\n", card, 0);
    check("# cat /sys/block/mmcblk0/size\n15523840\n", card, 0);
    check(
        &format!(
            "{flashbench}major minor  #blocks  name\n\n   8  0 488386584 sda\n 179  0 7761920 mmcblk0\n 179  1 7757824 mmcblk0p1\n"
        ),
        card,
        0,
    );
    check(
        &format!(
            "Disk /dev/sda: 500.1 GB, 500107862016 bytes\nDisk /dev/mmcblk0: 7948 MB, 7948206080 bytes\n{flashbench}"
        ),
        card,
        0,
    );
    check(&format!("Disk /dev/sda: 500.1 GB, 500107862016 bytes\n{flashbench}"), None, 1);
    check("Disk /dev/sda: 500.1 GB, 500107862016 bytes\nDisk /dev/sdb: 7948 MB, 7948206080 bytes\n", None, 1);
    check("[  2.1] mmcblk0: mmc0:0001 SD08G 7.40 GiB", None, 1);
    assert_eq!(
        parse("[  2.1] mmcblk0: mmc0:0001 SD08G 7.40 GiB").device.and_then(|device| device.name).as_deref(),
        Some("SD08G")
    );
}

#[test]
fn orders() {
    let order = |text: &str| match &parse(text).observations.runs[0].data {
        Data::OpenUnits(open) => open.order,
        other => panic!("{other:?}"),
    };
    assert_eq!(order("3 open AUs, random:\n4MiB 1M/s"), Order::Random);
    assert_eq!(order("AU=3\n4MiB 1M/s"), Order::InOrder);
    assert_eq!(parse("AU=3\n4MiB 1M/s").notes.len(), 1);
}

/// The tables of a text, without the lines at which they stand.
fn tables(text: &str) -> Vec<Data> {
    parse(text).observations.runs.into_iter().map(|run| run.data).collect()
}

fn logs() -> Vec<(String, String)> {
    let fixtures = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures");
    let files = ["field", "transcripts"].map(|folder| std::fs::read_dir(fixtures.join(folder)).expect(folder));
    files
        .into_iter()
        .flatten()
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "txt"))
        .map(|path| (path.display().to_string(), std::fs::read_to_string(&path).expect("a log")))
        .collect()
}

fn is_row(line: &str) -> bool {
    let rates = line.split_once("iB ").is_some_and(|(size, _)| size.starts_with(|c: char| c.is_ascii_digit()));
    line.starts_with("align ") || line.starts_with("write align ") || rates
}

/// Each line changed, given its number.
fn each_line(text: &str, change: impl Fn(usize, &str) -> String) -> String {
    text.lines().enumerate().map(|(number, line)| change(number, line) + "\n").collect()
}

fn quoted_printable(line: &str) -> String {
    let mut out = String::new();
    let mut width = 0;
    for byte in line.bytes() {
        let code = match byte {
            b'\t' | b' '..=b'<' | b'>'..=b'~' => char::from(byte).to_string(),
            _ => format!("={byte:02X}"),
        };
        if width + code.len() > 75 {
            out.push_str("=\n");
            width = 0;
        }
        width += code.len();
        out.push_str(&code);
    }
    out
}

#[test]
fn what_a_log_went_through_does_not_change_its_tables() {
    type Change = fn(&str) -> String;
    let changes: [(&str, Change); 15] = [
        ("lines doubled", |text| {
            each_line(text, |_, line| if is_row(line) { format!("{line}\n{line}") } else { line.to_owned() })
        }),
        ("some lines doubled", |text| {
            each_line(
                text,
                |n, line| if is_row(line) && n % 5 == 0 { format!("{line}\n{line}") } else { line.to_owned() },
            )
        }),
        ("pasted twice", |text| format!("{text}\n{text}")),
        ("said in a chat", |text| each_line(text, |n, line| format!("10:{:02} < arnd> {line}", n % 60))),
        ("quoted by name", |text| each_line(text, |_, line| format!("Arnd> {line}"))),
        ("quoted", |text| each_line(text, |_, line| format!("> {line}"))),
        ("grep -n", |text| each_line(text, |n, line| format!("card.log:{n}:{line}"))),
        ("system log", |text| each_line(text, |n, line| format!("Feb  3 10:02:{:02} box bench[512]: {line}", n % 60))),
        ("upper case", |text| text.to_uppercase()),
        ("quoted-printable", |text| each_line(text, |_, line| quoted_printable(line))),
        ("escaped", |text| text.replace('µ', "\\u00b5").replace('\t', "\\t")),
        ("TeX", |text| text.replace("µs", "$\\mu$s")),
        ("without tabs", |text| {
            each_line(text, |_, line| if is_row(line) { line.replace('\t', "") } else { line.to_owned() })
        }),
        ("with semicolons", |text| {
            each_line(text, |_, line| {
                if is_row(line) { line.split_whitespace().collect::<Vec<_>>().join(";") } else { line.to_owned() }
            })
        }),
        ("with remarks", |text| {
            each_line(text, |n, line| {
                if is_row(line) && n % 7 == 0 { format!("{line}   <-- erase block 8MiB?") } else { line.to_owned() }
            })
        }),
    ];
    let mut faults = Vec::new();
    for (name, text) in logs() {
        let expect = tables(&text);
        for (change, apply) in &changes {
            let got = tables(&apply(&text));
            if got != expect {
                let first = got.iter().zip(&expect).find(|(got, expect)| got != expect);
                faults.push(format!("{name}, {change}: {} tables, not {}: {first:?}", got.len(), expect.len()));
            }
        }
    }
    assert!(faults.is_empty(), "{} faults:\n{}", faults.len(), faults.join("\n"));
}

#[test]
fn parts_of_screens_pasted_twice_count_once() {
    let open = "$ flashbench -O --open-au-nr=2 /dev/x\n";
    let text = format!("{open}4MiB 10M/s\n2MiB 9M/s\n1MiB 8M/s\n2MiB 9M/s\n1MiB 8M/s\n512KiB 7M/s\n");
    assert_eq!(runs(&text), ["open Some(2) InOrder 4"]);
    let notes = parse(&text).notes;
    assert!(notes.contains(&"line 5: 2 lines repeat a row of their table and count once".to_owned()), "{notes:?}");
    // A test that was done again is one more table, also where it begins alike.
    let text = format!("{open}4MiB 10M/s\n2MiB 9M/s\n4MiB 10M/s\n2MiB 9.1M/s\n");
    assert_eq!(runs(&text), ["open Some(2) InOrder 2", "open Some(2) InOrder 2"]);
}

#[test]
fn quoted_commands_go_on() {
    let text = "> $ sudo flashbench -O -e 4194304 \\\n> \t--open-au-nr=2 -r /dev/sdb\n> 4MiB 10M/s\n> 2MiB 9M/s\n";
    assert_eq!(runs(text), ["open Some(2) Random 2"]);
}

#[test]
fn an_interrupt_inside_a_word_of_a_row_is_gone() {
    let expect = align_row("align 4194304 pre 694us on 937us post 689us diff 246us");
    for row in [
        "ali^Cgn 4194304 pre 694us on 937us post 689us diff 246us",
        "align 4194304 p^Cre 694us on 937^Cus post 689u^Cs diff 246us^Croot@box:~# ",
    ] {
        assert_eq!(align_row(row), expect, "{row}");
    }
    let fat = "======= find FAT: 1 =======\n4MiB 3.55M/s 3.77M^C/s 7.15^CM/s\n2M^CiB 3.5M/s 3.7M/^Cs 7.1M/s\n";
    assert_eq!(rates(fat), [(4 << 20, vec![3.55e6, 3.77e6, 7.15e6]), (2 << 20, vec![3.5e6, 3.7e6, 7.1e6])]);
}

#[test]
fn several_devices_in_one_log_are_told() {
    let logs: Vec<String> = logs()
        .into_iter()
        .filter(|(name, _)| name.contains("card-8.") || name.contains("card-9."))
        .map(|log| log.1)
        .collect();
    assert!(logs.iter().all(|log| !parse(log).several_devices));
    let parsed = parse(&logs.join("\n"));
    assert!(parsed.several_devices && parsed.capacity.is_none(), "{:?} {:?}", parsed.notes, parsed.device);
    assert!(
        parsed.notes.iter().any(|note| note.starts_with(flashscope_transcript::SEVERAL_DEVICES)),
        "{:?}",
        parsed.notes
    );
    let check = |text: &str, expect: bool| assert_eq!(parse(text).several_devices, expect, "{text}");
    check("# flashbench -a /dev/sdb\n# flashbench -a /dev/sdc\n", true);
    check("# flashbench -a /dev/sdb\n# flashbench -a /dev/sdb1\n", false);
    check("# flashbench -a /dev/mmcblk0\n# flashbench -a /dev/block/mmcblk0p1\n", false);
    check("# flashbench -a /dev/mmcblk0\n# flashbench -a /dev/mmcblk1\n", true);
    check("Disk /dev/sdb: 7948 MB, 7948206080 bytes\nDisk /dev/sdb: 3965 MB, 3965190144 bytes\n", true);
}

#[test]
fn memory_is_bounded() {
    let text = "== AU=1 ==\n4MiB 10M/s\n".repeat(50_000);
    let parsed = parse(&text);
    assert!(parsed.observations.runs.len() <= 4096 + 1);
    assert!(parsed.notes.iter().any(|note| note.contains("the rest is left out")), "{:?}", parsed.notes);
    let wide = format!("== find FAT ==\n{}", format!("4MiB {}\n", "1M/s ".repeat(2000)).repeat(6000));
    let cells: usize = rates(&wide).iter().map(|(_, cells)| cells.len()).sum();
    assert!(cells <= 5_000_000, "{cells}");
}

fn fixture(path: &str) -> String {
    let path = format!("{}/../../fixtures/{path}", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"))
}

#[test]
fn logs_that_are_cut_short_say_so() {
    let cut = |text: &str| {
        let parsed = parse(text);
        let noted = parsed.notes.iter().any(|note| note.ends_with("cut short"));
        let marked = parsed.observations.runs.last().is_some_and(|run| !run.complete);
        (noted, marked)
    };
    let open = "$ flashbench -O --open-au-nr=2 -b 1048576 /dev/x\n4MiB 10M/s\n2MiB 9M/s\n";
    assert_eq!(cut(open), (true, true), "{:?}", parse(open).notes);
    assert_eq!(cut(&format!("{open}1MiB 8M/s\n")), (false, false));
    assert_eq!(cut(&format!("{open}1MiB 8M/s")), (false, false), "a paste without its last line end is whole");
    // Tables without a command are held against the one before.
    for path in ["field/card-9.txt", "field/card-27.txt"] {
        let text = fixture(path);
        assert_eq!(cut(&text), (false, false), "{path}");
        let whole: Vec<&str> = text.lines().collect();
        let second = whole.iter().position(|line| line.contains("Align test: 2")).unwrap();
        let ends_amid = format!("{}\n", whole[..second + 9].join("\n"));
        assert_eq!(cut(&ends_amid), (true, true), "{path}");
        // Where a table ends at a whole row, or at a heading, nothing shows that more was to come.
        let at_heading = format!("{}\n", whole[..=second].join("\n"));
        assert_eq!(cut(&at_heading), (false, false), "{path}");
        assert_eq!(cut(&at_heading[..at_heading.len() - 12]), (true, false), "{path}: amid a heading");
    }
    let text = fixture("field/card-9.txt");
    let row = text.find("2MiB").unwrap();
    assert_eq!(cut(&text[..row + 20]), (true, true), "amid a row of rates");
    let usb = fixture("field/usb-reader-2mib.txt");
    assert_eq!(cut(&usb), (true, true), "published without its last rows");
}
