use super::*;
use crate::rules::notation;

fn timelines(story: &str) -> Vec<Timeline> {
    crate::timeline::build(crate::join::join(notation::read(story).events))
}

/// The chains as they are without any arrangement: every send beside every chain that may grow.
fn slowly(timeline: &Timeline, sends: &[usize]) -> Vec<Chain> {
    let mut all: Vec<Vec<usize>> = Vec::new();
    let mut settling = Settling::default();
    for at in sends {
        let send = &timeline.sends[*at];
        let settled = settling.until(send.start);
        let grows = all.iter().rposition(|chain| {
            closeness(timeline, &timeline.sends[chain[0]], send) != Closeness::Apart
                && chain.iter().any(|earlier| {
                    timeline.sends[*earlier].start > settled && repeats(timeline, *earlier, send)
                })
        });
        settling.note(timeline, send);
        match grows {
            Some(chain) => all[chain].push(*at),
            None => all.push(vec![*at]),
        }
    }
    kept(timeline, all.into_iter())
}

struct Dice(u64);

impl Dice {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % n
    }
}

fn story(dice: &mut Dice) -> String {
    let mut lines = Vec::new();
    let mut at = 0.0;
    let mut sessions = 0;
    let vantage = ["", "bare "][dice.below(2) as usize];
    for id in 1..30 {
        at += [0.01, 0.3, 2.0, 70.0, 400.0][dice.below(5) as usize];
        if sessions == 0 || dice.below(5) == 0 {
            sessions += 1;
            lines.push(format!("{at:.2}-{:.2} POST initialize #0 -> 200 opens S{sessions}", at + 0.005));
        }
        let session = 1 + dice.below(sessions);
        let end = at + [0.02, 1.0, 30.0][dice.below(3) as usize];
        let how = ["200 sse cut", "200 sse closed", "504", "503", "404"][dice.below(5) as usize];
        let how = if dice.below(4) == 0 { format!("200 answers #{id}") } else { how.to_owned() };
        let amount = dice.below(2);
        lines.push(format!(
            "{:.2}-{end:.2} {vantage}POST S{session} call pay #{id} {{\"amount\":{amount}}} -> {how}",
            at + 0.006
        ));
    }
    lines.join("\n")
}

#[test]
fn arranged_chains_are_those_that_comparing_all_finds() {
    let mut dice = Dice(3);
    let mut found = 0;
    for _ in 0..400 {
        let story = story(&mut dice);
        for timeline in timelines(&story) {
            let mut by_call: BTreeMap<Fingerprint, Vec<usize>> = BTreeMap::new();
            for (at, send) in timeline.sends.iter().enumerate().filter(|(_, send)| send.era.is_some()) {
                by_call.entry(Fingerprint::of(send).expect("arguments are told")).or_default().push(at);
            }
            let mut slow: Vec<Chain> = by_call.values().flat_map(|sends| slowly(&timeline, sends)).collect();
            slow.sort_by_key(|chain| chain.sends[0]);
            assert_eq!(chains(&timeline), slow, "{story}");
            found += slow.len();
        }
    }
    assert!(found > 400, "only {found} chains");
}

fn looks(story: &str) -> u64 {
    let timelines = timelines(story);
    LOOKS.set(0);
    timelines.iter().for_each(|timeline| drop(chains(timeline)));
    LOOKS.get()
}

#[test]
fn many_equal_calls_are_not_compared_each_with_all() {
    let open = "0.0-0.1 POST initialize #0 -> 200 opens S1\n";
    // All under way at once.
    let beside = |count: u32| -> String {
        let call = |n: u32| {
            format!(
                "{}-900.0 POST S1 call pay #{n} {{\"amount\":40}} -> 200 sse cut\n",
                1.0 + f64::from(n) / 1e4
            )
        };
        open.to_owned() + &(0..count).map(call).collect::<String>()
    };
    // One batch after the other, each cut.
    let batches = |count: u32| -> String {
        let call = |n: u32| {
            let at = f64::from(n / (count / 4)) * 10.0 + 1.0 + f64::from(n) / 1e6;
            format!("{at:.6}-{:.6} POST S1 call pay #{n} {{\"amount\":40}} -> 200 sse cut\n", at + 5.0)
        };
        open.to_owned() + &(0..count).map(call).collect::<String>()
    };
    // The same, each of them on a session of its own.
    let apart = |count: u32| -> String {
        let quarter = count / 4;
        let opens = (0..quarter)
            .map(|n| format!("{:.6}-0.9 POST initialize #0 -> 200 opens S{n}\n", 0.1 + f64::from(n) / 1e6));
        let call = |n: u32| {
            let at = f64::from(n / quarter) * 10.0 + 1.0 + f64::from(n) / 1e6;
            let session = n % quarter;
            format!(
                "{at:.6}-{:.6} POST S{session} call pay #{n} {{\"amount\":40}} -> 200 sse cut\n",
                at + 5.0
            )
        };
        opens.collect::<String>() + &(0..count).map(call).collect::<String>()
    };
    for (name, story) in
        [("beside", &beside as &dyn Fn(u32) -> String), ("batches", &batches), ("apart", &apart)]
    {
        let (few, many) = (looks(&story(400)), looks(&story(1600)));
        assert!(many <= few * 5 + 5, "{name}: {few} looks for 400 calls, {many} for 1600");
    }
}
