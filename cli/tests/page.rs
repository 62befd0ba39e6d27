//! The page of a recorded run: a browser shows its diagram with the right arrows in the right order.

#[path = "../../report/tests/browser/mod.rs"]
mod browser;
mod command;

use browser::Browser;
use command::{audit, shipped};

/// `number role from>to` of every step of the diagram of the first finding of a breach.
fn drawn(page: &str, breach: &str) -> Vec<String> {
    let story = page.split(&format!("aria-label=\"diagram of {breach}\"")).nth(1).expect("it is drawn");
    let svg = story.split("</svg>").next().expect("it ends");
    let lanes: Vec<(&str, &str)> = svg
        .split("class=\"lane\" d=\"M")
        .skip(1)
        .filter_map(|lane| {
            Some((lane.split(' ').next()?, lane.split("class=\"name\"").nth(1)?.split(['>', '<']).nth(1)?))
        })
        .collect();
    let name = |x: &str| lanes.iter().find(|(at, _)| *at == x).map_or("?", |(_, name)| name).to_owned();
    svg.split("<g class=\"")
        .skip(1)
        .map(|row| {
            let role = row.split([' ', '"']).next().unwrap_or_default();
            let number =
                row.split("data-n=\"").nth(1).and_then(|rest| rest.split('"').next()).unwrap_or_default();
            // A cut is two strokes: from the server to the middle, from the middle to the client.
            let strokes: Vec<&str> =
                row.split(" d=\"M").skip(1).filter_map(|rest| rest.split('"').next()).collect();
            let from = strokes.first().and_then(|stroke| stroke.split(' ').next()).map(name);
            let to = strokes.iter().filter_map(|stroke| stroke.split('H').nth(1)).next_back().map(name);
            format!("{number} {role} {}>{}", from.unwrap_or_default(), to.unwrap_or_default())
        })
        .collect()
}

#[test]
fn a_recorded_duplicate_is_drawn_as_it_happened() {
    let runs = shipped();
    let run = runs
        .iter()
        .find(|run| run.ends_with("s04c_504_executed__py2+retry-same__py1"))
        .expect("it is shipped");
    let files: Vec<_> =
        ["capture.har.gz", "nginx-access.jsonl.gz", "server-a.jsonl.gz"].map(|file| run.join(file)).into();
    let files: Vec<_> =
        files.into_iter().map(|file| if file.is_file() { file } else { file.with_extension("") }).collect();
    let page = audit("html", &files, &[]).out;
    let expected = drawn(&page, "duplicate-invocation");
    let server = "127.0.0.1:18101";
    let (send, refuse) = (format!("send client>{server}"), format!("refuse {server}>client"));
    // Both sends were answered 504 by nginx while the tool ran: its own log has the effect and the end of each run.
    let roles: Vec<&str> =
        expected.iter().filter_map(|step| step.split_once(' ').map(|(_, step)| step)).collect();
    assert_eq!(roles.iter().filter(|step| **step == send).count(), 2, "{expected:?}");
    assert_eq!(roles.iter().filter(|step| **step == refuse).count(), 2, "{expected:?}");
    assert_eq!((roles[0], roles[1], roles[2]), (send.as_str(), refuse.as_str(), send.as_str()));
    assert!(roles[3..].iter().all(|step| *step == refuse || *step == "run >"), "{expected:?}");
    let numbers =
        expected.iter().enumerate().all(|(index, step)| step.starts_with(&format!("{} ", index + 1)));
    assert!(numbers, "{expected:?}");
    let Some(browser) = Browser::find() else { return };
    let shown = browser.open(&page, "");
    assert_eq!((shown.console, shown.requests), (Vec::new(), Vec::new()));
    assert_eq!(drawn(&shown.dom, "duplicate-invocation"), expected);
}
