//! The audit's findings in the terms of the report.
//! Knows no rule; what is marked as a secret stays so.

use unbroken_audit::event::Place;
use unbroken_audit::finding as audit;
use unbroken_audit::run;
use unbroken_report as report;

/// A finding of the audit.
pub(crate) fn finding(found: audit::Finding) -> report::Finding {
    let sends: Vec<report::Sent> = found.sends.into_iter().map(sent).collect();
    let mut proof: Vec<report::Step> = found.proof.into_iter().map(step).collect();
    // A handler may take effect before its stream is cut; what has no time follows from the rest.
    proof.sort_by_key(|step| (step.role == report::Role::Conclude, step.at.is_none(), step.at));
    // The last send is the mistake itself; else the last record of the story is where it came out.
    let last = proof.iter().rev().find_map(|step| step.exhibit.clone());
    report::Finding {
        breach: found.breach.0,
        level: found.level.0,
        certainty: certainty(found.certainty),
        place: sends.last().map(|sent| sent.exhibit.clone()).or(last),
        subject: report::Subject::Session(found.session),
        client: found.client,
        tool: found.tool,
        message: words(found.message),
        help: found.help,
        proof,
        sends,
        same_by: found.same_by.map(same_by),
        missing: found.missing,
        linked: found.linked,
        fingerprint: found.fingerprint,
    }
}

/// What the audit read, saw and could not read.
pub(crate) fn summary(seen: run::Summary) -> report::Summary {
    let mut inputs: Vec<report::Input> = seen.files.into_iter().map(input).collect();
    inputs.sort_by(|a, b| a.path.cmp(&b.path));
    let mut problems: Vec<report::Problem> = seen.problems.into_iter().map(problem).collect();
    problems.sort_by(|a, b| a.exhibit.cmp(&b.exhibit).then_with(|| a.message.cmp(&b.message)));
    report::Summary {
        inputs,
        problems,
        charts: report::Charts {
            cuts: seen.charts.cuts,
            limits: seen.charts.limits,
            reconnects: seen.charts.reconnects,
            sessions: seen.charts.sessions,
        },
        seen: report::Seen::Traffic {
            sessions: seen.sessions,
            reconnects: seen.reconnects,
            resumes: seen.resumes,
            calls: seen.calls,
            exchanges: seen.exchanges,
            not_judged: seen.not_judged,
            span: seen.span,
        },
        ..report::Summary::default()
    }
}

fn input(file: run::FileSummary) -> report::Input {
    let run::FileSummary { path, format, read, records, events } = file;
    report::Input { path, format, read, records, events }
}

fn problem(problem: run::Problem) -> report::Problem {
    let spot = problem.place.map_or(report::Spot::Whole, spot);
    report::Problem {
        exhibit: report::Exhibit { path: problem.path, spot },
        message: problem.message,
        help: problem.help,
        count: problem.count,
        lost: problem.lost,
    }
}

fn spot(place: Place) -> report::Spot {
    match place {
        Place::Line(line) => report::Spot::Line(line),
        Place::Entry(entry) => report::Spot::Entry(entry),
    }
}

fn exhibit(exhibit: audit::Exhibit) -> report::Exhibit {
    report::Exhibit { path: exhibit.path, spot: spot(exhibit.place) }
}

fn step(step: audit::Step) -> report::Step {
    let scene = step.exhibit.as_ref().map(scene).unwrap_or_default();
    report::Step {
        exhibit: step.exhibit.map(exhibit),
        at: step.at,
        role: role(step.role),
        words: words(step.words),
        scene,
    }
}

fn scene(exhibit: &audit::Exhibit) -> report::Scene {
    report::Scene { proxied: exhibit.proxied, server: exhibit.server.clone(), alias: exhibit.alias.clone() }
}

fn sent(sent: audit::Sent) -> report::Sent {
    let audit::Sent { exhibit: at_place, at, session, rpc_id, status, reached, executed, answered } = sent;
    report::Sent { exhibit: exhibit(at_place), at, session, rpc_id, status, reached, executed, answered }
}

fn words(words: audit::Words) -> report::Words {
    let piece = |piece| match piece {
        audit::Piece::Plain(text) => report::Piece::Plain(text),
        audit::Piece::Session(text) => report::Piece::Session(text),
        audit::Piece::Arguments(text) => report::Piece::Arguments(text),
        audit::Piece::Identity(text) => report::Piece::Identity(text),
        audit::Piece::Foreign(text) => report::Piece::Foreign(text),
    };
    report::Words(words.into_iter().map(piece).collect())
}

fn certainty(certainty: audit::Certainty) -> report::Certainty {
    match certainty {
        audit::Certainty::Possible => report::Certainty::Possible,
        audit::Certainty::Likely => report::Certainty::Likely,
        audit::Certainty::Proved => report::Certainty::Proved,
    }
}

fn role(role: audit::Role) -> report::Role {
    match role {
        audit::Role::Initialize => report::Role::Initialize,
        audit::Role::Send => report::Role::Send,
        audit::Role::Deliver => report::Role::Deliver,
        audit::Role::Cut => report::Role::Cut,
        audit::Role::Resume => report::Role::Resume,
        audit::Role::Refuse => report::Role::Refuse,
        audit::Role::Delete => report::Role::Delete,
        audit::Role::Run => report::Role::Run,
        audit::Role::Conclude => report::Role::Conclude,
    }
}

fn same_by(by: audit::SameBy) -> &'static str {
    match by {
        audit::SameBy::Session => "session",
        audit::SameBy::Subject => "subject",
        audit::SameBy::Trace => "trace",
        audit::SameBy::Connection => "connection",
        audit::SameBy::Client => "client",
        audit::SameBy::Address => "address",
        audit::SameBy::OnlyClient => "only-client",
    }
}
