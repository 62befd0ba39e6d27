//! The page as a browser shows it: its diagram, its script, and that it asks nobody for anything.

mod browser;
mod stories;

use browser::Browser;
use stories::{SOURCE, discarded, duplicate, summary};
use unbroken_report::render::{Format, Look, renderer};
use unbroken_report::{FailOn, Finding, Piece, Secrets, Verdict, Words};

fn page(findings: &[Finding]) -> String {
    let sources = |path: &str| (path == "src/client.rs").then(|| SOURCE.to_owned());
    let look = Look {
        color: false,
        unicode: true,
        width: 100,
        address: None,
        secrets: Secrets::default(),
        sources: &sources,
    };
    let (mut out, mut render) = (Vec::new(), renderer(Format::Html, look));
    for finding in findings {
        render.finding(finding, &mut out).expect("a Vec takes everything");
    }
    let summary = summary(findings);
    render.finish(&summary, Verdict::on(&summary, FailOn::Deny), &mut out).expect("a Vec takes everything");
    String::from_utf8(out).expect("the page is UTF-8")
}

fn hostile() -> Finding {
    let attack = "</script><script>window.hit=1</script><img src=x onerror=hit()>\"'&";
    let mut finding = duplicate();
    finding.fingerprint = "b0b0".into();
    finding.tool = Some(attack.into());
    finding.client = Some(attack.into());
    finding.message = Words::plain("tool call ").and(Piece::Foreign(attack.into()));
    for step in &mut finding.proof {
        step.scene.server = Some(attack.into());
        step.words = Words::plain("sent ").and(Piece::Foreign(attack.into()));
    }
    finding
}

/// `role from→to` of every row of the first diagram.
fn arrows(page: &str) -> Vec<String> {
    let svg = page.split("<svg viewBox=\"0 0 760").nth(1).expect("there is a diagram");
    let svg = svg.split("</svg>").next().expect("it ends");
    let attribute = |text: &str, name: &str| {
        text.split(&format!("{name}=\"")).nth(1).and_then(|rest| rest.split('"').next()).map(str::to_owned)
    };
    svg.split("<g class=\"")
        .skip(1)
        .map(|row| {
            let role = row.split([' ', '"']).next().unwrap_or_default();
            let d = attribute(row, " d").unwrap_or_default();
            let from: Option<u32> = d[1..].split(' ').next().and_then(|x| x.parse().ok());
            let to: Option<u32> = d.split('H').nth(1).and_then(|x| x.parse().ok());
            format!("{role} {}", if from < to { "→" } else { "←" })
        })
        .collect()
}

#[test]
fn a_story_is_drawn_in_its_order_and_direction() {
    let page = page(&[duplicate()]);
    assert_eq!(arrows(&page), ["send →", "cut ←", "initialize →", "send →", "deliver ←"]);
    for said in
        [">client<", ">proxy<", ">10.0.0.5:9001<", "send 1: POST tools/call", "send 2: POST tools/call"]
    {
        assert!(page.contains(said), "{said}");
    }
}

#[test]
fn labels_stay_in_the_drawing_and_boxes_hold_theirs() {
    let mut finding = duplicate();
    finding.proof[4].role = unbroken_report::Role::Run;
    for (index, step) in finding.proof.iter_mut().enumerate() {
        step.scene.server = Some(format!("instance-{}", index % 3));
        step.words = Words::plain("word ".repeat(1 + 9 * index).trim().to_owned());
    }
    let page = page(&[finding]);
    let number = |text: &str, name: &str| -> f64 {
        let value = text.split(&format!(" {name}=\"")).nth(1).and_then(|rest| rest.split('"').next());
        value.and_then(|value| value.parse().ok()).unwrap_or_else(|| panic!("{name} in {text}"))
    };
    let labels: Vec<(f64, f64)> = page
        .split("<text class=\"l")
        .skip(1)
        .map(|label| {
            let (head, text) = label.split_once('>').expect("a tag ends");
            let width = text.split('<').next().unwrap_or_default().chars().count() as f64 * 6.2;
            let x = number(head, "x");
            if head.starts_with(" from") { (x, x + width) } else { (x - width / 2.0, x + width / 2.0) }
        })
        .collect();
    assert_eq!(labels.len(), 5);
    for (from, to) in &labels {
        assert!(*from >= 120.0 && *to <= 760.0, "{labels:?}");
    }
    let drawn = page.split("<rect class=\"box\"").nth(1).expect("the run is drawn");
    let (x, width) = (number(drawn, "x"), number(drawn, "width"));
    assert!(x <= labels[4].0 && x + width >= labels[4].1 && x + width <= 760.0, "{x} {width} {labels:?}");
}

#[test]
fn an_instance_has_one_lane_where_one_exchange_has_both_its_names() {
    let lanes = |page: &str| page.matches("class=\"lane\"").count();
    let mut finding = duplicate();
    for (index, step) in finding.proof.iter_mut().enumerate() {
        step.scene.server = Some(if index < 2 { "a" } else { "10.0.0.5:9001" }.into());
    }
    assert_eq!(
        lanes(&page(std::slice::from_ref(&finding))),
        4,
        "client, proxy, and two names that nothing joins"
    );
    finding.proof[3].scene.alias = Some("a".into());
    let joined = page(std::slice::from_ref(&finding));
    assert_eq!(lanes(&joined), 3);
    assert!(joined.contains(">10.0.0.5:9001<") && !joined.contains(">a</text>"));
    // The address is a balancer's: it goes with another instance too.
    finding.proof[2].scene.alias = Some("b".into());
    assert_eq!(lanes(&page(&[finding])), 4);
}

#[test]
fn every_id_is_there_once_and_every_reference_leads_somewhere() {
    let mut other = discarded();
    other.fingerprint = "b1".into();
    let page = page(&[duplicate(), other]);
    let values = |name: &str| -> Vec<String> {
        let start = format!(" {name}=\"");
        page.split(&start).skip(1).filter_map(|rest| rest.split('"').next()).map(str::to_owned).collect()
    };
    let mut ids = values("id");
    let all = ids.len();
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), all);
    let local = |link: &String| link.strip_prefix('#').map(str::to_owned);
    let named = values("aria-labelledby")
        .into_iter()
        .flat_map(|list| list.split(' ').map(str::to_owned).collect::<Vec<_>>());
    let links = values("href").into_iter().filter_map(|link| local(&link));
    for target in links.chain(named) {
        assert!(ids.contains(&target), "nothing has the id {target}");
    }
}

#[test]
fn source_is_shown_without_the_indentation_that_all_lines_share() {
    let page = page(&[discarded()]);
    let excerpt = page.split("<pre tabindex=\"0\">").nth(1).and_then(|rest| rest.split("</pre>").next());
    let lines: Vec<&str> = excerpt.expect("there is source").lines().collect();
    assert_eq!(lines[0], "   4 Some(event) =&gt; self.take(event?),".replace("&gt;", "&#62;"), "{lines:#?}");
    assert!(lines[2].starts_with("<mark>   6     self.session_id = None;"), "{lines:#?}");
}

#[test]
fn foreign_text_stays_text() {
    let many: Vec<Finding> = std::iter::repeat_n(hostile(), 300).collect();
    let page = page(&many);
    assert!(!page.contains("<img") && !page.contains("<script>window"), "markup came through");
    // Stories that are laid out late stand in a script element: nothing foreign may end it.
    assert_eq!(page.matches("<script").count(), page.matches("</script").count());
}

#[test]
fn a_browser_shows_it_without_a_word_to_the_console_or_the_network() {
    let Some(browser) = Browser::find() else { return };
    let mut findings = vec![duplicate(), discarded()];
    findings.extend(std::iter::repeat_n(hostile(), 300).enumerate().map(|(index, mut finding)| {
        finding.fingerprint = format!("b0b0{index}");
        finding
    }));
    let shown = browser.open(&page(&findings), "#f-b0b0299");
    assert_eq!(shown.console, Vec::<String>::new());
    assert_eq!(shown.requests, Vec::<String>::new());
    // The last story lay in the page as text and was laid out because the address names it.
    assert!(shown.dom.contains("t-b0b0299") && shown.dom.contains("<details open"), "the script did not run");
    assert!(!shown.dom.contains("<img"), "a tool's name became an element");
    assert_eq!(
        shown.dom.matches("<form id=\"filter\" role=\"search\" aria-label=\"filter the findings\">").count(),
        1
    );
}

#[test]
fn a_page_that_asks_somebody_is_caught() {
    let Some(browser) = Browser::find() else { return };
    let shown =
        browser.open("<!doctype html><img src=\"http://127.0.0.1:9/a.png\"><script>missing()</script>", "");
    assert_eq!(shown.requests, ["http://127.0.0.1:9/a.png"]);
    assert_eq!(shown.console.len(), 1, "{:?}", shown.console);
}

#[test]
fn the_filter_leaves_what_was_asked_for() {
    let Some(browser) = Browser::find() else { return };
    // One story is markup, the other lies compressed: words of either are found.
    let mut findings = vec![duplicate()];
    findings.extend(std::iter::repeat_n(duplicate(), 300).enumerate().map(|(index, mut finding)| {
        finding.fingerprint = format!("a{index}");
        finding
    }));
    findings.push(discarded());
    for (query, expected) in
        [("Client::read", "1 of 302 shown"), ("one address and user agent", "301 of 302 shown")]
    {
        let dom = filtered(&browser, &page(&findings), query);
        assert!(dom.contains(expected), "{}", dom.split("<output").nth(1).unwrap_or_default());
    }
}

/// The document after somebody typed `query` into its filter.
fn filtered(browser: &Browser, page: &str, query: &str) -> String {
    let ask = format!(
        "<script>addEventListener('load',()=>{{const q=document.getElementById('q');q.value='{query}';\
         q.dispatchEvent(new Event('input',{{bubbles:true}}))}})</script></body>"
    );
    let policy = page.find("<meta http-equiv").expect("the page has a policy");
    let end = policy + page[policy..].find('>').expect("it ends");
    let loose = format!("{}{}", &page[..policy], &page[end + 1..]).replace("</body>", &ask);
    browser.open(&loose, "").dom
}

#[test]
fn ten_thousand_findings_open_and_more_are_counted() {
    let story = |index: usize| {
        let mut finding = duplicate();
        finding.fingerprint = format!("{index:016x}");
        finding
    };
    let many: Vec<Finding> = (0..10_050).map(story).collect();
    let page = page(&many);
    assert_eq!(page.matches("<tbody role=\"rowgroup\" class=\"f ").count(), 10_000);
    assert!(page.contains("And 50 more, counted above"));
    assert!(page.len() < 12_000_000, "{} bytes", page.len());
    let Some(browser) = Browser::find() else { return };
    let took = browser.paint(&page);
    eprintln!("{} bytes were painted in {took:?}", page.len());
    // 0.4 s more than an empty page takes, measured beside ten other programs; the bound leaves room for slower machines.
    assert!(took < std::time::Duration::from_secs(30), "{took:?}");
}
