//! How findings look in every format, and that no format gives a secret away or drives a terminal.

mod stories;

use stories::{ARGUMENTS, LATER, SESSION, SOURCE, discarded, duplicate, summary};
use unbroken_report::render::{Address, Format, Look, renderer};
use unbroken_report::unprintable::is_unprintable;
use unbroken_report::{Exhibit, FailOn, Finding, Range, Secrets, Seen, Spot, Summary, Verdict};

struct Page {
    color: bool,
    unicode: bool,
    width: usize,
    address: Option<Address>,
    secrets: Secrets,
}

impl Default for Page {
    fn default() -> Page {
        Page { color: false, unicode: true, width: 100, address: None, secrets: Secrets::default() }
    }
}

impl Page {
    fn show(&self, format: Format, findings: &[Finding]) -> String {
        let sources = |path: &str| match path {
            "src/client.rs" => Some(SOURCE.to_owned()),
            "src/long.rs" => Some(long()),
            _ => None,
        };
        let Page { color, unicode, width, address, ref secrets } = *self;
        let look = Look { color, unicode, width, address, secrets: secrets.clone(), sources: &sources };
        let (mut out, mut render) = (Vec::new(), renderer(format, look));
        for finding in findings {
            render.finding(finding, &mut out).expect("a Vec takes everything");
        }
        let summary = summary(findings);
        render
            .finish(&summary, Verdict::on(&summary, FailOn::Deny), &mut out)
            .expect("a Vec takes everything");
        String::from_utf8(out).expect("every format is UTF-8")
    }
}

#[test]
fn a_duplicate_is_told_as_a_timeline() {
    insta::assert_snapshot!(Page::default().show(Format::Human, &[duplicate()]));
}

#[test]
fn a_duplicate_fits_a_narrow_terminal_without_unicode() {
    let page = Page { unicode: false, width: 60, ..Page::default() };
    let shown = page.show(Format::Human, &[duplicate()]);
    assert!(shown.is_ascii() && shown.lines().all(|line| line.chars().count() <= 60), "{shown}");
    insta::assert_snapshot!(shown);
}

/// The targets of all hyperlinks.
fn links(shown: &str) -> Vec<&str> {
    let starts = shown.split("\u{1b}]8;;").skip(1).filter_map(|rest| rest.split("\u{1b}\\").next());
    starts.filter(|url| !url.is_empty()).collect()
}

#[test]
fn places_are_links_where_the_terminal_has_them_and_nothing_else_changes() {
    let address: Address = |path| Some(format!("file:///home/me/{path}"));
    let log = "file:///home/me/logs/access.jsonl";
    for (finding, expected) in
        [(duplicate(), vec![log; 6]), (discarded(), vec!["file:///home/me/src/client.rs"])]
    {
        for (format, most) in [(Format::Human, expected.len()), (Format::Brief, 1)] {
            for color in [false, true] {
                let page = Page { color, address: Some(address), ..Page::default() };
                let shown = page.show(format, std::slice::from_ref(&finding));
                let links = links(&shown);
                assert!(links.len() >= most && links[..most] == expected[..most], "{links:?}\n{shown}");
                let unlinked =
                    shown.split("\u{1b}]8;;").enumerate().fold(String::new(), |text, (index, part)| {
                        text + if index == 0 { part } else { part.split_once("\u{1b}\\").expect("it ends").1 }
                    });
                let plain = Page { address: None, ..page }.show(format, std::slice::from_ref(&finding));
                assert_eq!(unlinked, plain);
            }
        }
    }
}

#[test]
fn a_mistake_in_code_is_drawn_in_ascii_where_there_is_no_more() {
    let page = Page { unicode: false, width: 60, ..Page::default() };
    for finding in [discarded(), duplicate()] {
        for format in [Format::Human, Format::Brief] {
            let shown = page.show(format, std::slice::from_ref(&finding));
            // The source itself is shown as it is, its unprintable characters blotted out.
            assert!(shown.replace('\u{fffd}', "").is_ascii(), "{shown}");
        }
    }
}

#[test]
fn a_mistake_in_code_is_told_on_its_lines() {
    insta::assert_snapshot!(Page::default().show(Format::Human, &[discarded()]));
}

/// A file of 300 lines that know their number.
fn long() -> String {
    (1..=300).map(|line| format!("    let line_{line} = {line};\n")).collect()
}

#[test]
fn what_lies_between_two_far_labels_is_left_out() {
    let at = |line: u32, end_line: u32| Exhibit {
        path: "src/long.rs".into(),
        spot: Spot::Range(Range { line, column: 5, end_line, end_column: 9 }),
    };
    let mut finding = discarded();
    finding.proof.truncate(3);
    finding.place = Some(at(200, 200));
    for (step, exhibit) in finding.proof.iter_mut().zip([at(200, 200), at(194, 194), at(20, 180)]) {
        step.exhibit = Some(exhibit);
    }
    let shown = Page::default().show(Format::Human, std::slice::from_ref(&finding));
    let lines: Vec<u32> = (1..=300).filter(|line| shown.contains(&format!("line_{line} "))).collect();
    // Two neighbours share a frame; the long range, far above, is shown by its first line.
    assert_eq!(lines, [19, 20, 21, 193, 194, 195, 196, 197, 198, 199, 200, 201], "{shown}");
    let address: Address = |path| Some(format!("file:///{path}"));
    for color in [false, true] {
        let page = Page { color, address: Some(address), ..Page::default() };
        let linked = page.show(Format::Human, std::slice::from_ref(&finding));
        assert_eq!(links(&linked)[..2], ["file:///src/long.rs"; 2], "{linked}");
    }
    insta::assert_snapshot!(shown);
}

#[test]
fn a_source_that_is_gone_leaves_the_places() {
    let mut finding = discarded();
    finding.place.as_mut().expect("it has one").path = "src/gone.rs".into();
    insta::assert_snapshot!(Page::default().show(Format::Human, &[finding]));
}

#[test]
fn a_lint_says_what_it_left_apart() {
    let closing = |files_apart| {
        let seen = Seen::Code { files_seen: 9, files_checked: 7, files_apart, crates: 1 };
        let summary = Summary { seen, ..Summary::default() };
        let sources = |_: &str| None;
        let look = Look {
            color: false,
            unicode: true,
            width: 100,
            address: None,
            secrets: Secrets::default(),
            sources: &sources,
        };
        let mut out = Vec::new();
        renderer(Format::Human, look)
            .finish(&summary, Verdict::Clean, &mut out)
            .expect("a Vec takes everything");
        String::from_utf8(out).expect("UTF-8").lines().next().expect("a line").to_owned()
    };
    assert_eq!(closing(0), "checked 7 of 9 Rust files in 1 crate");
    let told = "checked 7 of 9 Rust files in 1 crate; 2 tests and the like left apart (--include)";
    assert_eq!(closing(2), told);
}

#[test]
fn brief_is_one_line_each() {
    insta::assert_snapshot!(Page::default().show(Format::Brief, &[duplicate(), discarded()]));
}

#[test]
fn json_is_one_object_each() {
    insta::assert_snapshot!(Page::default().show(Format::Json, &[duplicate(), discarded()]));
}

#[test]
fn sarif_has_a_code_flow_each() {
    insta::assert_snapshot!(Page::default().show(Format::Sarif, &[duplicate(), discarded()]));
}

#[test]
fn github_annotates_and_logs() {
    insta::assert_snapshot!(Page::default().show(Format::Github, &[duplicate(), discarded()]));
}

#[test]
fn junit_is_one_case_each() {
    insta::assert_snapshot!(Page::default().show(Format::Junit, &[duplicate(), discarded()]));
}

#[test]
fn csv_is_one_line_each() {
    insta::assert_snapshot!(Page::default().show(Format::Csv, &[duplicate(), discarded()]));
}

#[test]
fn cargo_is_what_editors_read() {
    let shown = Page::default().show(Format::Cargo, &[discarded()]);
    // The type that rust-analyzer reads a check command's lines with.
    let first: cargo_metadata::diagnostic::Diagnostic =
        serde_json::from_str(shown.lines().next().expect("a line")).expect("a diagnostic");
    let code = first.code.expect("a code").code;
    assert_eq!(
        (first.message.as_str(), code.as_str()),
        ("the session id is cleared because a stream ended (proved)", "unbroken::session-discarded")
    );
    let spans: Vec<(&str, usize, bool)> =
        first.spans.iter().map(|span| (span.file_name.as_str(), span.line_start, span.is_primary)).collect();
    assert_eq!(
        spans,
        [("src/client.rs", 6, true), ("src/client.rs", 5, false), ("src/session.rs", 12, false)]
    );
    let primary = &first.spans[0];
    let meant = &SOURCE[primary.byte_start as usize..primary.byte_end as usize];
    assert_eq!(meant, "self.session_id = None");
    insta::assert_snapshot!(shown);
}

#[test]
fn markdown_tells_the_story() {
    insta::assert_snapshot!(Page::default().show(Format::Markdown, &[duplicate(), discarded()]));
}

#[test]
fn github_shows_the_worst_ten() {
    let mut note = discarded();
    note.level = unbroken_contract::Level::Note;
    let mut many: Vec<Finding> = std::iter::repeat_n(note, 30).collect();
    many.push(duplicate());
    let shown = Page::default().show(Format::Github, &many);
    let annotations: Vec<&str> = shown.lines().filter(|line| line.starts_with("::")).collect();
    assert_eq!(annotations.len(), 10, "{annotations:#?}");
    assert!(annotations[9].contains("title=input"), "what could not be read has one of the ten");
    assert!(annotations[0].starts_with("::error file=logs/access.jsonl,line=9,"), "{}", annotations[0]);
}

#[test]
fn no_format_gives_a_secret_away_or_drives_a_terminal() {
    for format in Format::ALL {
        let hidden = Page::default().show(*format, &[duplicate(), discarded()]);
        for secret in [SESSION, LATER, ARGUMENTS, "acct-7001"] {
            assert!(!hidden.contains(secret), "{}: {secret} in {hidden}", format.id());
        }
        let page = Page { secrets: Secrets::default().revealed(), ..Page::default() };
        let revealed = page.show(*format, &[duplicate(), discarded()]);
        for shown in [&hidden, &revealed] {
            let acting: Vec<char> = shown.chars().filter(|c| *c != '\n' && is_unprintable(*c)).collect();
            assert!(acting.is_empty(), "{}: {acting:?}", format.id());
        }
    }
    let page = Page { secrets: Secrets::default().revealed(), ..Page::default() };
    assert!(page.show(Format::Human, &[duplicate()]).contains(SESSION), "revealing must reveal");
}

#[test]
fn colours_change_no_word() {
    let strip = |text: &str| -> String {
        let mut parts = text.split('\u{1b}');
        let first = parts.next().unwrap_or_default().to_owned();
        parts.fold(first, |mut all, part| {
            all.push_str(part.split_once('m').map_or("", |(_, rest)| rest));
            all
        })
    };
    let colored = Page { color: true, ..Page::default() }.show(Format::Human, &[duplicate()]);
    assert!(colored.contains('\u{1b}'));
    assert_eq!(strip(&colored), Page::default().show(Format::Human, &[duplicate()]));
}

#[test]
fn many_findings_are_shown_in_full_then_in_brief_then_counted() {
    let many: Vec<Finding> = std::iter::repeat_with(discarded).take(1060).collect();
    let shown = Page::default().show(Format::Human, &many);
    assert_eq!(shown.matches("unbroken explain").count(), 50);
    assert_eq!(shown.matches("src/client.rs:6:17: deny session-discarded").count(), 1000);
    assert!(shown.contains("and 10 more") && shown.contains("1060 deny"), "{}", &shown[shown.len() - 900..]);
}
