//! The end of the report: the conclusion, the counts, the proof of review, what to do next.

use std::fmt::Write as _;

use super::disputes;
use crate::cli::report::options::RenderOptions;
use crate::cli::report::text::layout::{heading, list};
use crate::cli::style::{self, Color, Glyph, Style};
use crate::domain::{Class, ExitReason, FindingState, Outcome, Proof, SettledFinding, Spent};
use crate::protocol::text::printable;

/// The open disputes that are named with their command.
const NAMED: usize = 3;

/// The two lines of a run in which everybody answered and nobody found anything.
pub(crate) fn clean(look: Style, outcome: &Outcome) -> String {
    let reviewers: Vec<_> = outcome.proof.reviewers.iter().map(|reviewer| reviewer.name.clone()).collect();
    let mark = look.paint(Color::Good, &format!("{} Clean", look.glyph(Glyph::Done)));
    let mut text = format!("{mark}: {}, reviewed by {}\n", covered(outcome), list(&reviewers));
    push(&mut text, look, &[counts(look, outcome), proof(outcome)].concat());
    text.push_str(&super::reviewers::reused(look, &outcome.proof.reused));
    text
}

pub(crate) fn section(look: Style, outcome: &Outcome) -> String {
    let (glyph, tone, conclusion) = conclusion(outcome);
    let mut text = format!("{} {}\n", look.paint(tone, look.glyph(glyph)), look.paint(tone, &conclusion));
    push(&mut text, look, &counts(look, outcome));
    let mut facts = vec![covered(outcome)];
    facts.extend(proof(outcome));
    push(&mut text, look, &facts.iter().map(|fact| look.paint(Color::Faint, fact)).collect::<Vec<_>>());
    text
}

/// Facts on as many lines as they take, broken between facts.
fn push(text: &mut String, look: Style, facts: &[String]) {
    let mut from = 0;
    for to in 1..=facts.len() {
        let fits = |end: usize| style::columns(&look.facts(&facts[from..end])) + 2 <= look.width;
        if to == facts.len() || !fits(to + 1) {
            let _ = writeln!(text, "  {}", look.facts(&facts[from..to]));
            from = to;
        }
    }
}

fn conclusion(outcome: &Outcome) -> (Glyph, Color, String) {
    let blocking = outcome.findings.iter().filter(|finding| finding.blocks()).count();
    let open = outcome.disputes.iter().filter(|dispute| dispute.is_open()).count();
    let bad = |text: String| (Glyph::Failed, Color::Bad, text);
    match outcome.exit {
        ExitReason::Clean if outcome.findings.is_empty() => {
            (Glyph::Done, Color::Good, "Nothing was found".to_owned())
        }
        ExitReason::Clean => (Glyph::Done, Color::Good, "Nothing mandatory is open".to_owned()),
        ExitReason::FindingsOpen => bad(match blocking {
            0 => {
                let failing = outcome.notices.iter().find(|notice| notice.contains(Outcome::VERIFY_FAILS));
                let why = failing.map_or("the run does not pass: see the notes", String::as_str);
                format!("Nothing mandatory is open, but {}", printable::line(why))
            }
            number => are_open(number),
        }),
        ExitReason::DisputeOpen => (Glyph::Attention, Color::Warn, format!("{} for you", wait(open))),
        ExitReason::AgentFailed => {
            let mut silent: Vec<_> = outcome.failures.iter().map(|failure| failure.agent.clone()).collect();
            let reviewers = outcome.proof.reviewers.iter().filter(|reviewer| !reviewer.status.is_complete());
            silent.extend(reviewers.map(|reviewer| reviewer.name.clone()));
            let mut seen = Vec::new();
            silent.retain(|name| {
                let new = !seen.contains(name);
                seen.push(name.clone());
                new
            });
            let who = if silent.is_empty() { "an agent".to_owned() } else { list(&silent) };
            bad(format!("Nothing may be concluded: {who} did not answer completely"))
        }
        ExitReason::ReadOnlyViolation => bad("An agent changed what it may only read".to_owned()),
        ExitReason::Budget => bad("The budget or a rate limit is reached".to_owned()),
        // Ctrl-C, and Esc at a dialog, where no signal came.
        ExitReason::Signal(2) => (
            Glyph::Attention,
            Color::Warn,
            format!("Stopped by you{}", waiting(open, blocking.saturating_sub(open))),
        ),
        ExitReason::Signal(number) => {
            bad(format!("Interrupted by signal {number}{}", waiting(open, blocking.saturating_sub(open))))
        }
        ExitReason::Usage | ExitReason::Locked | ExitReason::History | ExitReason::Untrusted => {
            bad("The run could not be done".to_owned())
        }
    }
}

fn are_open(findings: usize) -> String {
    match findings {
        1 => "1 mandatory finding is open".to_owned(),
        many => format!("{many} mandatory findings are open"),
    }
}

fn wait(disputes: usize) -> String {
    match disputes {
        1 => "1 dispute waits".to_owned(),
        many => format!("{many} disputes wait"),
    }
}

/// What waits in a run that was stopped; what is disputed is not counted twice.
fn waiting(disputes: usize, findings: usize) -> String {
    match (disputes, findings) {
        (0, 0) => String::new(),
        (0, _) => format!(": {}", are_open(findings)),
        (_, 0) => format!(": {}", wait(disputes)),
        _ => format!(": {}, {}", wait(disputes), are_open(findings)),
    }
}

/// The numbers; the first five are always said, the others where they are not zero.
fn counts(look: Style, outcome: &Outcome) -> Vec<String> {
    let count =
        |is: &dyn Fn(&SettledFinding) -> bool| outcome.findings.iter().filter(|finding| is(finding)).count();
    let mandatory = count(&|finding| finding.finding.mandatory);
    let fixed = count(&|finding| matches!(finding.state, FindingState::Resolved | FindingState::Unchecked));
    let unchecked = count(&|finding| finding.state == FindingState::Unchecked);
    let blocking = count(&SettledFinding::blocks);
    let optional = count(&|finding| !finding.finding.mandatory && !finding.state.is_closed());
    let fixed = match unchecked {
        0 => format!("Fixed ({fixed})"),
        _ => format!("Fixed ({fixed}: {unchecked} unchecked)"),
    };
    let open = match (blocking, optional) {
        (0, 0) => "Open (0)".to_owned(),
        (0, optional) => format!("Open ({optional} optional)"),
        (blocking, 0) => look.paint(Color::Bad, &format!("Open ({blocking} mandatory)")),
        (blocking, optional) => {
            look.paint(Color::Bad, &format!("Open ({blocking} mandatory, {optional} optional)"))
        }
    };
    let some = |name: &str, number: usize| if number == 0 { String::new() } else { format!("{name} ({number})") };
    vec![
        format!("Findings ({})", outcome.findings.len()),
        format!("Mandatory ({mandatory})"),
        fixed,
        open,
        disputes::tally(look, &outcome.disputes),
        some("Uncorroborated", count(&|finding| is(finding, Class::Uncorroborated))),
        some("Contradicted", count(&|finding| is(finding, Class::Disputed))),
        some("Rejected", count(&|finding| is(finding, Class::Rejected))),
        some("Claimed", count(&|finding| finding.state == FindingState::Claimed)),
        some("Not confirmed", count(&|finding| finding.state == FindingState::Unconfirmed)),
        some("Discarded", count(&|finding| finding.state == FindingState::Discarded)),
        some("Already ruled", count(&|finding| matches!(finding.state, FindingState::AlreadyRuled { .. }))),
        some("Insisted", count(&|finding| finding.insisted)),
    ]
}

/// Whether the reviewers of a run made this of a finding.
fn is(finding: &SettledFinding, class: Class) -> bool {
    finding.finding.consensus.as_ref().is_some_and(|consensus| consensus.class == class)
}

/// `14 files, 1,203 lines`.
fn covered(outcome: &Outcome) -> String {
    let lines: u64 = outcome.proof.covered.iter().map(|file| u64::from(file.lines)).sum();
    let files = style::count(outcome.proof.covered.len(), "file");
    format!("{files}, {}", style::count(lines, "line"))
}

/// What exactly was reviewed, in how much time, for how many tokens.
fn proof(outcome: &Outcome) -> Vec<String> {
    let proof = &outcome.proof;
    let id = |id: &str| {
        let id = printable::line(id);
        let (scheme, hash) = id.split_once(':').map_or(("", id.as_str()), |(scheme, hash)| (scheme, hash));
        let colon = if scheme.is_empty() { "" } else { ":" };
        format!("{scheme}{colon}{}", hash.chars().take(12).collect::<String>())
    };
    let commit = proof.commit.as_deref().map_or_else(String::new, |commit| format!("commit {}", id(commit)));
    let usage = &proof.usage;
    let tokens = |number: Option<u64>, what: &str| {
        number.map_or_else(String::new, |number| format!("{} tokens {what}", style::thousands(number)))
    };
    vec![
        commit,
        format!("tree {}", id(&proof.tree)),
        if outcome.rounds > 1 { style::count(outcome.rounds, "round") } else { String::new() },
        style::duration(proof.millis),
        tokens(usage.input_tokens, "read"),
        tokens(usage.output_tokens, "written"),
        usage.usd.map_or_else(String::new, |usd| format!("${usd:.2}")),
        left(proof),
        format!("run {}", printable::line(outcome.run.short())),
    ]
}

/// What is left of the budget, where there is one.
fn left(proof: &Proof) -> String {
    let Proof { caps, usage, calls, .. } = proof;
    let spent = Spent { calls: *calls, usage: *usage };
    let mut left = Vec::new();
    if let Some(cap) = caps.tokens {
        let tokens = style::thousands(cap.saturating_sub(spent.tokens().unwrap_or(0)));
        left.push(format!("{tokens} tokens"));
    }
    if let Some(cap) = caps.usd {
        left.push(format!("${:.2}", (cap - usage.usd.unwrap_or(0.0)).max(0.0)));
    }
    if let Some(cap) = caps.calls {
        left.push(style::count(cap.saturating_sub(*calls), "call"));
    }
    if left.is_empty() { String::new() } else { format!("budget left: {}", left.join(", ")) }
}

/// The commands that lead on from here.
pub(crate) fn next(outcome: &Outcome, options: &RenderOptions<'_>) -> String {
    let run = printable::line(outcome.run.short());
    let mut steps: Vec<(String, &str)> = Vec::new();
    let open: Vec<_> = outcome.disputes.iter().filter(|dispute| dispute.is_open()).collect();
    for dispute in open.iter().take(NAMED) {
        let command = format!("glee disputes resolve {} judge|discard|enforce|dismiss", dispute.number);
        steps.push((command, "settle the dispute"));
    }
    if open.len() > NAMED {
        steps.push(("glee disputes --open".to_owned(), "list all that wait"));
    }
    let interrupted = matches!(outcome.exit, ExitReason::Signal(_) | ExitReason::Budget);
    if !open.is_empty() || interrupted {
        steps.push((
            format!("glee runs resume {run}"),
            if interrupted { "carry on" } else { "carry on afterwards" },
        ));
    }
    let untouched = outcome.findings.iter().any(|finding| finding.state == FindingState::Open)
        && !outcome.undoable
        && outcome.findings.iter().all(|finding| finding.response.is_none());
    if untouched && !interrupted {
        steps.push((printable::line(options.fix_command), "hand the findings to the coder"));
    }
    if !outcome.failures.is_empty() {
        steps.push(("glee agents".to_owned(), "see whether the agents' programs are there"));
    }
    if outcome.undoable && !outcome.changes.is_empty() {
        steps.push((format!("glee runs undo {run}"), "take back what the coder changed"));
    }
    if steps.is_empty() {
        return String::new();
    }
    let look = options.look;
    let width = steps.iter().map(|(command, _)| style::columns(command)).max().unwrap_or(0);
    let mut text = heading(look, "Next", "");
    for (command, purpose) in steps {
        // Commands are copied: they are never cut, and stand alone where the purpose does not fit beside them.
        let purpose = if width + 4 + style::columns(purpose) < look.width { purpose } else { "" };
        let command = style::pad(&look.paint(Color::Key, &command), width);
        let _ = writeln!(text, "{}", format!("  {command}  {}", look.paint(Color::Faint, purpose)).trim_end());
    }
    text
}
