//! One story in every format: what each log allows to be found is found, at no more certainty than it allows.
//! Knows the story and the formats' limits; a client calls a tool, the stream is cut after 60 s, the client opens a second
//! session and calls again. A bystander calls another tool twice and is answered: it must never be told of.
#![allow(clippy::unwrap_used, clippy::print_stdout)]

mod known;

use known::options;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use unbroken_audit::adapter::intake;
use unbroken_audit::adapter::rpc::Keep;
use unbroken_audit::event::Event;
use unbroken_audit::finding::{Certainty, Finding, Role};
use unbroken_audit::mapping::coverage::Coverage;
use unbroken_audit::run::{Options, run};
use unbroken_audit::source::Limits;
use unbroken_contract::breach::Breach;

/// What a log of a format can show of the story: breach and the certainty that is told; a missing one is impossible.
struct Shows {
    file: &'static str,
    format: &'static str,
    found: &'static [(Breach, Certainty)],
}

use Breach::{
    BlindRetry as Again, DuplicateInvocation as Twice, OrphanedSession as Left, ResponseUndelivered as Lost,
    SessionDiscarded as Dropped,
};
use Certainty::{Likely, Possible, Proved};

/// Bodies and a cut that was seen from the client's side.
const CAPTURE: &[(Breach, Certainty)] = &[(Twice, Proved), (Lost, Likely), (Dropped, Possible)];
/// Bodies of requests, and who cut.
const ALL: &[(Breach, Certainty)] = &[(Twice, Likely), (Lost, Likely), (Dropped, Likely)];
/// Bodies of requests; who cut is not told.
const BODIES: &[(Breach, Certainty)] = &[(Twice, Likely), (Lost, Likely), (Dropped, Possible)];
/// Bodies of requests, and a stream that the next hop towards the client closed at an idle limit: the client, or a
/// balancer in front.
const CLOSED: &[(Breach, Certainty)] = &[(Twice, Likely), (Lost, Likely), (Dropped, Possible)];
/// Tools without arguments; who cut is not told.
const TOOLS: &[(Breach, Certainty)] = &[(Twice, Possible), (Lost, Likely), (Dropped, Possible)];
/// Tools without arguments, and who cut.
const TOOLS_CUT: &[(Breach, Certainty)] = &[(Twice, Possible), (Lost, Likely), (Dropped, Likely)];
/// Messages as the client's side of the wire had them, and who closed the connection.
const WIRE: &[(Breach, Certainty)] = &[(Twice, Likely), (Lost, Proved), (Dropped, Likely)];
/// Sessions alone.
const SESSIONS: &[(Breach, Certainty)] = &[(Dropped, Possible)];
const NOTHING: &[(Breach, Certainty)] = &[];

const SAMPLES: &[Shows] = &[
    Shows { file: "agentgateway_access.jsonl", format: "agentgateway, default", found: TOOLS },
    Shows { file: "agentgateway_cel.jsonl", format: "agentgateway with CEL fields", found: BODIES },
    Shows { file: "caddy.jsonl", format: "Caddy, with its own word on the cut", found: &[(Dropped, Likely)] },
    Shows { file: "envoy_gateway_default.jsonl", format: "Envoy Gateway, default", found: NOTHING },
    Shows { file: "envoy_json.jsonl", format: "Envoy with the MCP filter", found: ALL },
    Shows { file: "fastmcp_structured.jsonl", format: "FastMCP, structured", found: &[(Twice, Possible)] },
    Shows { file: "gcp_lb.jsonl", format: "GCP load balancer", found: NOTHING },
    Shows { file: "haproxy_json.jsonl", format: "HAProxy", found: ALL },
    Shows { file: "har_chrome.har", format: "HAR (Chrome)", found: CAPTURE },
    Shows { file: "inspector_network.json", format: "MCP Inspector, network", found: BODIES },
    Shows { file: "kong_ai_mcp.jsonl", format: "Kong AI Gateway", found: BODIES },
    Shows {
        file: "litellm_standard_logging.jsonl",
        format: "LiteLLM",
        found: &[(Twice, Likely), (Lost, Likely)],
    },
    Shows { file: "nginx_json.jsonl", format: "nginx, closed by a balancer in front", found: CLOSED },
    Shows { file: "nginx_json.jsonl.gz", format: "nginx in gzip", found: CLOSED },
    Shows { file: "nginx_json.jsonl.zst", format: "nginx in zstd", found: CLOSED },
    Shows { file: "nginx_json.jsonl.bz2", format: "nginx in bzip2", found: CLOSED },
    Shows { file: "nginx_upstream_timeout.jsonl", format: "nginx, own timeout", found: BODIES },
    Shows { file: "otlp_logs.jsonl", format: "OTLP logs (agentgateway)", found: TOOLS },
    Shows { file: "otlp_traces.jsonl", format: "OTLP traces with arguments", found: CLOSED },
    Shows { file: "python_sdk_jsonlogger.jsonl", format: "Python SDK, server", found: &[(Lost, Likely)] },
    Shows { file: "rmcp_client_tracing.jsonl", format: "rmcp, client", found: NOTHING },
    Shows { file: "rmcp_tracing.jsonl", format: "rmcp, server", found: &[(Twice, Possible)] },
    Shows {
        file: "stateless_2026_07_28_nginx.jsonl",
        format: "nginx, stateless revision, headers",
        found: &[(Twice, Possible), (Lost, Likely)],
    },
    Shows { file: "traefik.jsonl", format: "Traefik", found: SESSIONS },
    Shows {
        file: "wrap_cloudwatch_filter_log_events.json",
        format: "CloudWatch, filter-log-events",
        found: CLOSED,
    },
    Shows { file: "wrap_cloudwatch_subscription.json", format: "CloudWatch, subscription", found: CLOSED },
    Shows { file: "wrap_datadog_archive.jsonl", format: "Datadog archive", found: CLOSED },
    Shows { file: "wrap_docker_json_file.log", format: "Docker json-file", found: CLOSED },
    Shows { file: "wrap_gcp_gke_container.jsonl", format: "GCP LogEntry", found: CLOSED },
    Shows { file: "wrap_k8s_cri.log", format: "Kubernetes CRI", found: CLOSED },
    Shows { file: "wrap_loki_logcli.jsonl", format: "Loki", found: CLOSED },
];

const OWN: &[Shows] = &[
    Shows { file: "agentgateway_spans.jsonl", format: "agentgateway, OTLP spans", found: BODIES },
    Shows { file: "agentgateway_text.log", format: "agentgateway, text with CEL fields", found: BODIES },
    Shows { file: "aws_agentcore_cloudtrail.jsonl", format: "AWS AgentCore, CloudTrail", found: NOTHING },
    Shows { file: "aws_alb.log", format: "AWS ALB", found: NOTHING },
    Shows { file: "aws_api_gateway.jsonl", format: "AWS API Gateway", found: NOTHING },
    Shows { file: "aws_cloudfront.jsonl", format: "AWS CloudFront", found: NOTHING },
    Shows { file: "azure_apim.jsonl", format: "Azure API Management", found: TOOLS_CUT },
    Shows {
        file: "azure_apim_diagnostic.json",
        format: "Azure API Management, diagnostic settings",
        found: TOOLS_CUT,
    },
    Shows { file: "caddy_with_bodies.jsonl", format: "Caddy with appended bodies", found: BODIES },
    Shows { file: "cloudflare_http.jsonl", format: "Cloudflare HTTP requests", found: SESSIONS },
    Shows { file: "cloudflare_portal.jsonl", format: "Cloudflare MCP portal", found: TOOLS_CUT },
    Shows { file: "contextforge.jsonl", format: "MCP Context Forge", found: NOTHING },
    Shows { file: "dotnet_console.jsonl", format: ".NET SDK", found: NOTHING },
    Shows { file: "dotnet_serilog.jsonl", format: ".NET SDK through Serilog", found: NOTHING },
    Shows { file: "envoy_ai_gateway.jsonl", format: "Envoy AI Gateway, default", found: TOOLS },
    Shows { file: "envoy_long_flags.jsonl", format: "Envoy with long flags", found: ALL },
    Shows { file: "envoy_mcp_as_text.jsonl", format: "Envoy with the MCP filter, text template", found: ALL },
    Shows { file: "fastmcp_plain.jsonl", format: "FastMCP, plain", found: &[(Twice, Possible)] },
    Shows {
        file: "fastmcp_structlog.jsonl",
        format: "FastMCP, structured through structlog",
        found: &[(Twice, Possible)],
    },
    Shows { file: "haproxy_other_names.jsonl", format: "HAProxy under other names", found: ALL },
    Shows { file: "haproxy_text.log", format: "HAProxy, default text", found: NOTHING },
    Shows { file: "fastmcp_text.log", format: "FastMCP, text lines", found: &[(Twice, Possible)] },
    Shows { file: "python_text.log", format: "Python SDK, text lines", found: &[(Lost, Likely)] },
    Shows { file: "spring_boot_text.log", format: "Java SDK, Spring Boot's text", found: &[(Lost, Likely)] },
    Shows { file: "haproxy_unescaped.jsonl", format: "HAProxy with quotes not escaped", found: ALL },
    Shows { file: "har_chrome_no_streams.har", format: "HAR (Chrome) without its streams", found: BODIES },
    Shows { file: "har_mitmproxy.har", format: "HAR (mitmproxy)", found: BODIES },
    Shows { file: "har_mitmproxy_streamed.har", format: "HAR (mitmproxy), streams passed on", found: BODIES },
    Shows { file: "ingress_nginx_cri.log", format: "ingress-nginx in CRI, own timeout", found: BODIES },
    Shows { file: "inspector_network.json", format: "MCP Inspector, network", found: BODIES },
    Shows { file: "inspector_protocol.json", format: "MCP Inspector, protocol", found: &[(Again, Likely)] },
    Shows { file: "istio_text.log", format: "Istio, default text", found: NOTHING },
    Shows { file: "jaeger.json", format: "Jaeger, no arguments", found: &[(Twice, Possible)] },
    Shows { file: "jaeger_elasticsearch.jsonl", format: "Jaeger in Elasticsearch", found: CLOSED },
    Shows { file: "java_gelf.jsonl", format: "Java SDK in GELF", found: &[(Lost, Likely)] },
    Shows { file: "java_logstash.jsonl", format: "Java SDK", found: &[(Lost, Likely)] },
    Shows {
        file: "litellm_no_reason.jsonl",
        format: "LiteLLM without a reason",
        found: &[(Twice, Likely), (Lost, Likely)],
    },
    Shows { file: "nginx_hex_escapes.jsonl", format: "nginx without escape=json", found: CLOSED },
    Shows { file: "nginx_text.log", format: "ingress-nginx, default text", found: NOTHING },
    Shows {
        file: "otlp_spans_of_nobody.jsonl",
        format: "OTLP spans with arguments, no session and no client",
        found: &[(Twice, Possible)],
    },
    Shows { file: "pino_http.jsonl", format: "pino-http", found: CLOSED },
    Shows {
        file: "python_client_debug.jsonl",
        format: "Python SDK, client DEBUG",
        found: &[(Again, Likely), (Dropped, Likely)],
    },
    Shows { file: "python_otlp_logs.jsonl", format: "Python SDK in OTLP logs", found: &[(Lost, Likely)] },
    Shows { file: "traefik_clf.log", format: "Traefik, default text", found: NOTHING },
    Shows { file: "wrap_cloudwatch_insights.json", format: "CloudWatch Insights", found: CLOSED },
    Shows { file: "wrap_cloudwatch_firehose.json", format: "CloudWatch through Firehose", found: CLOSED },
    Shows { file: "wrap_cloudwatch_kinesis.json", format: "CloudWatch through Kinesis", found: CLOSED },
    Shows { file: "wrap_cloudwatch_lambda.json", format: "CloudWatch, a function's event", found: CLOSED },
    Shows { file: "wrap_cloudwatch_s3.txt", format: "CloudWatch export to S3", found: CLOSED },
    Shows { file: "wrap_elasticdump.jsonl", format: "elasticdump", found: CLOSED },
    Shows { file: "wrap_elasticsearch.json", format: "Elasticsearch", found: CLOSED },
    Shows { file: "wrap_elasticsearch_cri.jsonl", format: "Kubernetes CRI in Elasticsearch", found: CLOSED },
    Shows { file: "wrap_fluentbit.jsonl", format: "Fluent Bit", found: CLOSED },
    Shows { file: "wrap_fluentbit_pieces.jsonl", format: "Fluent Bit, pieces not joined", found: CLOSED },
    Shows { file: "wrap_gcp_split.jsonl", format: "GCP LogEntry, split, in any order", found: CLOSED },
    Shows { file: "wrap_journald.jsonl", format: "journald", found: CLOSED },
    Shows { file: "wrap_otlp_lines.jsonl", format: "OTLP logs of a file's lines", found: CLOSED },
    Shows { file: "wrap_splunk.jsonl", format: "Splunk", found: CLOSED },
    Shows { file: "wrap_vector.jsonl", format: "Vector", found: CLOSED },
    Shows { file: "tshark_ek.jsonl", format: "tshark, -T ek", found: WIRE },
    Shows { file: "tshark_json.json", format: "tshark, -T json", found: WIRE },
    Shows { file: "envoy_ai_gateway_log.jsonl", format: "Envoy AI Gateway, debug log", found: NOTHING },
    Shows { file: "envoy_ai_gateway_log.log", format: "Envoy AI Gateway, debug log as text", found: NOTHING },
    Shows { file: "azure_apim_gateway.jsonl", format: "Azure API Management, gateway log", found: ALL },
    Shows {
        file: "azure_apim_gateway_tables.json",
        format: "Azure API Management, gateway log from Log Analytics",
        found: ALL,
    },
    Shows {
        file: "azure_apim_gateway_diagnostic.jsonl",
        format: "Azure API Management, gateway log of diagnostic settings",
        found: BODIES,
    },
    Shows {
        file: "otlp_mcp_logs.jsonl",
        format: "OTLP logs with MCP attributes",
        found: &[(Twice, Possible)],
    },
    Shows {
        file: "otlp_mcp_exchange_logs.jsonl",
        format: "OTLP logs of exchanges with MCP attributes",
        found: BODIES,
    },
    Shows { file: "express_winston.jsonl", format: "express-winston", found: BODIES },
    Shows { file: "rmcp_text.log", format: "rmcp, server, text lines", found: &[(Twice, Possible)] },
    Shows { file: "wrap_datadog_api.json", format: "Datadog API", found: CLOSED },
    Shows { file: "wrap_cloudwatch_insights.csv", format: "CloudWatch Insights, CSV", found: CLOSED },
    Shows {
        file: "wrap_cloudwatch_insights_fields.json",
        format: "CloudWatch Insights, query for fields",
        found: CLOSED,
    },
    Shows { file: "wrap_splunk.csv", format: "Splunk, CSV", found: CLOSED },
    Shows { file: "wrap_logcli_text.txt", format: "Loki, logcli's text", found: CLOSED },
    Shows {
        file: "wrap_elasticsearch_fields.json",
        format: "Elasticsearch, query for fields",
        found: CLOSED,
    },
    Shows { file: "kong_batches.jsonl", format: "Kong AI Gateway, batches", found: BODIES },
    Shows { file: "traefik_dropped_fields.jsonl", format: "Traefik with dropped fields", found: SESSIONS },
    Shows {
        file: "envoy_metadata_parts.jsonl",
        format: "Envoy with the MCP filter, parts by name",
        found: ALL,
    },
    Shows { file: "tempo.json", format: "Grafana Tempo, trace", found: &[(Twice, Likely)] },
    Shows { file: "nginx_request_line.jsonl", format: "nginx with $request", found: CLOSED },
    Shows { file: "caddy_nanoseconds.jsonl", format: "Caddy, durations in nanoseconds", found: SESSIONS },
];

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn findings(path: &Path) -> Vec<Finding> {
    let mut found = Vec::new();
    run(&[path.to_owned()], &Options { threads: 1, ..options() }, &mut |finding| found.push(finding));
    found
}

/// Breaches with their certainties, in order.
fn told(findings: &[Finding]) -> Vec<(Breach, Certainty)> {
    let mut told: Vec<_> = findings.iter().map(|finding| (finding.breach.0, finding.certainty)).collect();
    told.sort();
    told
}

fn check(folder: &Path, all: &[Shows], bystander: (&str, &str)) {
    for shows in all {
        let found = findings(&folder.join(shows.file));
        let mut expected = shows.found.to_vec();
        expected.sort();
        assert_eq!(told(&found), expected, "{}", shows.file);
        for finding in &found {
            assert_ne!(
                finding.session.as_deref(),
                Some(bystander.0),
                "{}: the bystander's session",
                shows.file
            );
            assert_ne!(finding.tool.as_deref(), Some(bystander.1), "{}: the bystander's tool", shows.file);
            let open = finding.certainty == Certainty::Proved || finding.missing.is_some();
            assert!(open, "{}: {} names what would raise it", shows.file, finding.breach.0);
        }
    }
}

#[test]
fn every_sample_tells_its_story() {
    let shared =
        std::env::var_os("UNBROKEN_SHARED").map_or_else(|| repository().join("../shared"), PathBuf::from);
    let samples = shared.join("logs/samples");
    if !samples.exists() {
        println!("skipped: the shared samples are not here");
        return;
    }
    let listed: Vec<&str> = SAMPLES.iter().map(|shows| shows.file).collect();
    for entry in std::fs::read_dir(&samples).unwrap() {
        let name = entry.unwrap().file_name().to_string_lossy().into_owned();
        assert!(name == "STORY.json" || listed.contains(&&*name), "{name} is tested by nobody");
    }
    check(&samples, SAMPLES, ("a7d90f13-22c4-4b8e-9a77-31f05e6c8d03", "get_balance"));
}

#[test]
fn every_format_of_our_own_tells_its_story() {
    let folder = repository().join("fixtures/logs/formats");
    let listed: Vec<&str> = OWN.iter().map(|shows| shows.file).collect();
    for entry in std::fs::read_dir(&folder).unwrap() {
        let name = entry.unwrap().file_name().to_string_lossy().into_owned();
        assert!(name == "README.md" || listed.contains(&&*name), "{name} is tested by nobody");
    }
    check(&folder, OWN, ("e94b2c18-0d77-4c3e-91ab-3fb0dd5e3303", "read_rate"));
}

/// What `mapping test` says of a log holds: what it calls impossible is found in none.
#[test]
fn what_a_log_is_said_to_lack_is_never_found_in_it() {
    let formats = known::formats();
    let folder = repository().join("fixtures/logs/formats");
    for shows in OWN {
        let mut coverage = Coverage::default();
        let path = folder.join(shows.file);
        let count = &mut |event: Event| coverage.count(&event);
        intake::read(&path, 0, &formats, &Limits::default(), Keep::default(), count);
        let impossible: Vec<&str> =
            coverage.limits().iter().filter(|limit| limit.impossible).map(|limit| limit.breaches).collect();
        for (breach, _) in shows.found {
            let named = |list: &&str| list.split(", ").any(|id| id == breach.id());
            assert!(!impossible.iter().any(named), "{}: {} is said to be impossible", shows.file, breach);
        }
    }
}

#[test]
fn the_table_of_evidence_is_what_the_tests_hold() {
    let mut rows: BTreeMap<String, &[(Breach, Certainty)]> = BTreeMap::new();
    for shows in SAMPLES.iter().chain(OWN) {
        rows.insert(shows.format.to_owned(), shows.found);
    }
    let columns = [Twice, Again, Lost, Dropped, Left];
    let mut page = String::from(
        "# What each log can show\n\nOne story, told by every format: a client calls a tool, the stream is cut after a minute, the client opens a second \
         session and calls\nagain. *certain*, *likely* and *possible* are what is said of it from that log alone; *impossible*: the log lacks the facts. Several \
         logs of the\nsame traffic, given at once, say more than each alone.\n\n*certain* is what reports call *proved*. A dash: that log tells this part of the \
         story by the other name. A call sent again\nis a blind-retry where the log does not show that the first send reached a server, else a duplicate-invocation; a \
         session is\norphaned where the log says that its client closed the stream, else discarded.\n\n",
    );
    page.push_str("| log |");
    columns.iter().for_each(|breach| write!(page, " {} |", breach.id()).unwrap());
    page.push_str("\n| --- |");
    columns.iter().for_each(|_| page.push_str(" --- |"));
    page.push('\n');
    for (format, found) in rows {
        write!(page, "| {format} |").unwrap();
        for column in columns {
            let word = match found
                .iter()
                .find(|(breach, _)| *breach == column)
                .map(|(_, certainty)| certainty)
            {
                Some(Proved) => "certain",
                Some(Likely) => "likely",
                Some(Possible) => "possible",
                // A call that is not shown to have reached a server is told as one sent blindly.
                None if column == Again && found.iter().any(|(b, _)| *b == Twice) => "–",
                None if column == Twice && found.iter().any(|(b, _)| *b == Again) => "–",
                // A session that its client left is told as one or the other, by who closed.
                None if column == Left || (column == Dropped && found.iter().any(|(b, _)| *b == Left)) => "–",
                None => "impossible",
            };
            write!(page, " {word} |").unwrap();
        }
        page.push('\n');
    }
    let path = repository().join("docs/formats/evidence.md");
    if std::env::var_os("UNBROKEN_BLESS").is_some() {
        std::fs::write(&path, &page).unwrap();
    }
    let is = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(is == page, "docs/formats/evidence.md is out of date: run this test with UNBROKEN_BLESS=1");
}

/// A log without headers beside one that does not say why a stream ended: together they say who cut.
#[test]
fn a_second_log_says_who_cut() {
    let folder = repository().join("fixtures/logs/formats");
    let both = |second: &str| {
        let mut found = Vec::new();
        let files = [folder.join("agentgateway_text.log"), folder.join(second)];
        run(&files, &Options { threads: 1, ..options() }, &mut |finding| found.push(finding));
        told(&found)
    };
    let expected = |dropped| {
        let mut all = vec![(Twice, Likely), (Lost, Likely), (Dropped, dropped)];
        all.sort();
        all
    };
    for second in ["istio_text.log", "haproxy_text.log"] {
        assert_eq!(both(second), expected(Likely), "{second}");
    }
    for second in ["nginx_text.log", "traefik_clf.log"] {
        assert_eq!(both(second), expected(Possible), "{second} tells no reason, and takes nothing away");
    }
}

/// What nginx takes for its client's leaving was the balancer's between, where the client itself tells of a broken stream.
#[test]
fn a_client_knows_best_whether_it_left() {
    let folder = repository().join("fixtures/logs/formats");
    for own in ["har_chrome_no_streams.har", "inspector_network.json"] {
        let mut found = Vec::new();
        let files = [folder.join("nginx_hex_escapes.jsonl"), folder.join(own)];
        run(&files, &Options { threads: 1, ..options() }, &mut |finding| found.push(finding));
        let mut expected = BODIES.to_vec();
        expected.sort();
        assert_eq!(told(&found), expected, "{own}");
    }
}

/// A log that keeps no status shows no refusal, and the proof says none.
#[test]
fn a_status_that_is_not_recorded_is_no_refusal() {
    let folder = repository().join("fixtures/logs/formats");
    for file in ["azure_apim.jsonl", "cloudflare_portal.jsonl", "python_client_debug.jsonl"] {
        let found = findings(&folder.join(file));
        assert!(!found.is_empty(), "{file}");
        for step in found.iter().flat_map(|finding| &finding.proof) {
            assert_ne!(step.role, Role::Refuse, "{file}: {:?}", step.words);
        }
    }
}

/// A balancer's log holds no word on the exchanges that it does not speak of: they did not end properly for that.
#[test]
fn a_second_log_of_another_hop_vouches_for_nothing() {
    let folder = repository().join("fixtures/logs/formats");
    let lines = std::fs::read_to_string(folder.join("nginx_hex_escapes.jsonl")).unwrap();
    // nginx's own timeout: it calls the exchange complete, and no byte count tells more.
    let lines = lines.replace("\"request_completion\":\"\"", "\"request_completion\":\"OK\"");
    let lines = lines.replace("\"body_bytes_sent\"", "\"other_bytes\"");
    let own = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(own.path(), lines).unwrap();
    let with = |second: Option<&str>| {
        let mut found = Vec::new();
        let files: Vec<PathBuf> =
            [own.path().to_owned()].into_iter().chain(second.map(|name| folder.join(name))).collect();
        run(&files, &Options { threads: 1, ..options() }, &mut |finding| found.push(finding));
        told(&found)
    };
    let mut alone = BODIES.to_vec();
    alone.sort();
    assert_eq!(with(None), alone);
    assert_eq!(with(Some("nginx_text.log")), alone);
    let mut cut = ALL.to_vec();
    cut.sort();
    assert_eq!(with(Some("istio_text.log")), cut);
}
