//! `--format otlp-traces` and `--format otlp-metrics`: the calls of a run for OpenTelemetry, one `TracesData` or
//! `MetricsData` of OTLP in its JSON form, on one line. The names are those of the semantic conventions for generative
//! AI; what these have no name for begins with `glee.`. Both are made from the recorded events, so that a run that was
//! resumed, or is shown again, has the same ids and numbers.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde_json::{Value, json};

use crate::cli::report::calls::{CallCompletion, TimedCall, calls};
use crate::cli::report::formats::json;
use crate::cli::report::options::RenderOptions;
use glee_model::domain::event::{CallAnswer, Event, EventKind, ReviewEvent};
use glee_model::domain::{Agent, ExitReason, Outcome, RunId};
use glee_model::rules::consensus::vendor_of;
use glee_protocol::secrets;

/// The names that the conventions give to providers, where Glee has another.
const PROVIDERS: [(&str, &str); 3] = [
    ("google", "gcp.gen_ai"),
    ("mistral", "mistral_ai"),
    ("xai", "x_ai"),
];

/// The bounds that the conventions give for `gen_ai.client.token.usage`.
const TOKENS: [f64; 14] = [
    1.0,
    4.0,
    16.0,
    64.0,
    256.0,
    1024.0,
    4096.0,
    16384.0,
    65536.0,
    262_144.0,
    1_048_576.0,
    4_194_304.0,
    16_777_216.0,
    67_108_864.0,
];

/// The bounds that the conventions give for `gen_ai.client.operation.duration`, in seconds.
const SECONDS: [f64; 14] = [
    0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92,
];

/// Numbers of the enums `SpanKind`, `StatusCode` and `AggregationTemporality`.
const INTERNAL: u8 = 1;
const CLIENT: u8 = 3;
const OK: u8 = 1;
const ERROR: u8 = 2;
const DELTA: u8 = 1;

pub(crate) fn traces(outcome: &Outcome, options: &RenderOptions<'_>) -> String {
    let agents = agents(options.events);
    let trace = outcome.run.0.replace('-', "");
    let root = span_id(&outcome.run, "run");
    let mut spans = Vec::new();
    if let (Some(first), Some(last)) = (options.events.first(), options.events.last()) {
        let is_concluded = matches!(
            outcome.exit,
            ExitReason::Clean | ExitReason::FindingsOpen | ExitReason::DisputeOpen
        );
        spans.push(json!({
            "traceId": trace,
            "spanId": root,
            "name": "glee review",
            "kind": INTERNAL,
            "startTimeUnixNano": nanos(first.at),
            "endTimeUnixNano": nanos(last.at),
            "attributes": attributes([
                ("glee.run", json!(outcome.run.0)),
                ("glee.exit", json!(outcome.exit)),
                ("glee.rounds", json!(outcome.rounds)),
                ("glee.target", json!(outcome.proof.target)),
            ]),
            "status": { "code": if is_concluded { OK } else { ERROR } },
        }));
    }
    for call in calls(options.events) {
        let Some(end) = &call.ended else { continue };
        let usage = end.usage;
        let mut of_call = common(&call, end, &agents);
        of_call.extend([
            ("gen_ai.agent.name", json!(call.id.agent)),
            ("gen_ai.conversation.id", json!(end.told.session)),
            ("gen_ai.usage.input_tokens", json!(usage.input_tokens)),
            ("gen_ai.usage.output_tokens", json!(usage.output_tokens)),
            (
                "gen_ai.usage.cache_read.input_tokens",
                json!(usage.cached_tokens),
            ),
            (
                "gen_ai.usage.reasoning.output_tokens",
                json!(usage.reasoning_tokens),
            ),
            ("glee.call", json!(call.id.file_stem())),
            ("glee.cost.usd", json!(usage.usd)),
            ("glee.cost.estimated", json!(usage.estimated)),
            ("glee.retries", json!(end.told.retries)),
            ("glee.role", json!(call.role)),
        ]);
        spans.push(json!({
            "traceId": trace,
            "spanId": span_id(&outcome.run, &call.id.file_stem()),
            "parentSpanId": root,
            "name": format!("invoke_agent {}", call.id.agent),
            "kind": CLIENT,
            "startTimeUnixNano": nanos(call.began),
            "endTimeUnixNano": nanos(end.at),
            "attributes": attributes(of_call),
            "status": { "code": if error_type(end.answer).is_some() { ERROR } else { OK } },
        }));
    }
    let spans = json!([{ "scope": scope(), "spans": spans }]);
    json::line(&json!({ "resourceSpans": [{ "resource": resource(), "scopeSpans": spans }] }))
}

pub(crate) fn metrics(options: &RenderOptions<'_>) -> String {
    let agents = agents(options.events);
    // A data point is all calls with the same attributes.
    let mut tokens: BTreeMap<String, Point> = BTreeMap::new();
    let mut seconds: BTreeMap<String, Point> = BTreeMap::new();
    for call in calls(options.events) {
        let Some(end) = &call.ended else { continue };
        let common = common(&call, end, &agents);
        let duration = end.at.duration_since(call.began).as_secs_f64();
        Point::count(
            &mut seconds,
            attributes(common.clone()),
            &call,
            end,
            duration,
        );
        let used = [
            ("input", end.usage.input_tokens),
            ("output", end.usage.output_tokens),
        ];
        for (kind, used) in used {
            let Some(used) = used else { continue };
            let mut of_kind = common.clone();
            of_kind.push(("gen_ai.token.type", json!(kind)));
            #[expect(
                clippy::cast_precision_loss,
                reason = "a histogram adds numbers as doubles"
            )]
            let used = used as f64;
            Point::count(&mut tokens, attributes(of_kind), &call, end, used);
        }
    }
    let mut metrics = Vec::new();
    for (name, unit, points, bounds) in [
        (
            "gen_ai.client.operation.duration",
            "s",
            seconds,
            &SECONDS[..],
        ),
        ("gen_ai.client.token.usage", "{token}", tokens, &TOKENS[..]),
    ] {
        let points: Vec<Value> = points
            .into_values()
            .map(|point| point.json(bounds))
            .collect();
        if !points.is_empty() {
            let histogram = json!({ "dataPoints": points, "aggregationTemporality": DELTA });
            metrics.push(json!({ "name": name, "unit": unit, "histogram": histogram }));
        }
    }
    let metrics = json!([{ "scope": scope(), "metrics": metrics }]);
    json::line(&json!({ "resourceMetrics": [{ "resource": resource(), "scopeMetrics": metrics }] }))
}

/// A data point of a histogram.
struct Point {
    attributes: Value,
    from: Timestamp,
    to: Timestamp,
    values: Vec<f64>,
}

impl Point {
    fn count(
        points: &mut BTreeMap<String, Self>,
        attributes: Value,
        call: &TimedCall<'_>,
        end: &CallCompletion<'_>,
        value: f64,
    ) {
        let point = points.entry(attributes.to_string()).or_insert(Self {
            attributes,
            from: call.began,
            to: end.at,
            values: Vec::new(),
        });
        point.from = point.from.min(call.began);
        point.to = point.to.max(end.at);
        point.values.push(value);
    }

    fn json(self, bounds: &[f64]) -> Value {
        let mut counts = vec![0_u64; bounds.len() + 1];
        for value in &self.values {
            counts[bounds.partition_point(|bound| bound < value)] += 1;
        }
        let counts: Vec<String> = counts.iter().map(u64::to_string).collect();
        json!({
            "attributes": self.attributes,
            "startTimeUnixNano": nanos(self.from),
            "timeUnixNano": nanos(self.to),
            "count": self.values.len().to_string(),
            "sum": self.values.iter().sum::<f64>(),
            "min": self.values.iter().copied().fold(f64::INFINITY, f64::min),
            "max": self.values.iter().copied().fold(0.0, f64::max),
            "bucketCounts": counts,
            "explicitBounds": bounds,
        })
    }
}

type Attribute = (&'static str, Value);

/// The attributes that the conventions give to spans and metrics.
fn common(
    call: &TimedCall<'_>,
    end: &CallCompletion<'_>,
    agents: &BTreeMap<&str, &Agent>,
) -> Vec<Attribute> {
    // A backup answered in the place of the agent.
    let asked = end.told.by.as_ref().unwrap_or(&call.id.agent);
    let agent = agents.get(asked.0.as_str());
    let provider = agent.map_or_else(|| asked.0.clone(), |agent| vendor_of(agent));
    let known = PROVIDERS.iter().find(|(vendor, _)| *vendor == provider);
    vec![
        ("gen_ai.operation.name", json!("invoke_agent")),
        (
            "gen_ai.provider.name",
            json!(known.map_or(provider.as_str(), |(_, name)| name)),
        ),
        (
            "gen_ai.request.model",
            json!(agent.and_then(|agent| agent.model.as_ref())),
        ),
        ("gen_ai.response.model", json!(end.told.model)),
        ("error.type", json!(error_type(end.answer))),
    ]
}

fn error_type(answer: &CallAnswer) -> Option<&'static str> {
    match answer {
        CallAnswer::Failed { cause, .. } => Some(cause.map_or("failed", |cause| cause.as_str())),
        CallAnswer::Invalid { .. } => Some("invalid_answer"),
        _ => None,
    }
}

/// The agents of the run by name.
fn agents(events: &[Event]) -> BTreeMap<&str, &Agent> {
    let mut agents = BTreeMap::new();
    for event in events {
        if let EventKind::Review(ReviewEvent::RunStarted { plan }) = &event.kind {
            let all = plan.agents.iter().chain(&plan.backups);
            let all = all.chain(&plan.comparers);
            agents.extend(all.map(|agent| (agent.name.0.as_str(), agent)));
        }
    }
    agents
}

/// Attributes without a value are left out. A whole number is written as text, as each number of 64 bits in OTLP's JSON.
fn attributes(all: impl IntoIterator<Item = Attribute>) -> Value {
    let mut attributes = Vec::new();
    for (key, value) in all {
        let value = match value {
            Value::String(text) => json!({ "stringValue": secrets::redact(&text) }),
            Value::Bool(is) => json!({ "boolValue": is }),
            Value::Number(number) if number.is_f64() => json!({ "doubleValue": number }),
            Value::Number(number) => json!({ "intValue": number.to_string() }),
            Value::Null | Value::Array(_) | Value::Object(_) => continue,
        };
        attributes.push(json!({ "key": key, "value": value }));
    }
    Value::Array(attributes)
}

fn resource() -> Value {
    json!({
        "attributes": attributes([
            ("service.name", json!("glee")),
            ("service.version", json!(env!("CARGO_PKG_VERSION"))),
        ]),
    })
}

fn scope() -> Value {
    json!({ "name": "glee", "version": env!("CARGO_PKG_VERSION") })
}

/// An id of eight bytes that is the same whenever the run is shown.
fn span_id(run: &RunId, of: &str) -> String {
    let hash = blake3::hash(format!("{run}/{of}").as_bytes()).to_hex();
    hash[..16].to_owned()
}

fn nanos(at: Timestamp) -> String {
    at.as_nanosecond().to_string()
}
