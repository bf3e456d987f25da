//! What the runs of a demonstration show. A wrong expectation fails as a defect does, so a result is evidence.

use crate::domain::{
    Claim, Demonstrated, DemonstrationResult, DemonstrationRun, Inconclusive, Role, Ruling,
    RulingWord, TestEnd, TestRun, TestedTree,
};
use crate::rules::consensus::Category;

/// How often a demonstration has to end in the same way on the reviewed tree.
pub const RUNS: usize = 3;

/// The demonstrations of a finding with what they show, in the order in which they first ran.
pub fn demonstrated(runs: &[DemonstrationRun]) -> Vec<Demonstrated> {
    let mut found: Vec<Demonstrated> = Vec::new();
    for run in runs {
        let known = found
            .iter_mut()
            .find(|known| known.demonstration == run.demonstration && known.claim == run.claim);
        let Some(known) = known else {
            found.push(Demonstrated {
                by: run.by,
                claim: run.claim,
                demonstration: run.demonstration.clone(),
                result: DemonstrationResult::FailsBefore,
                stronger: false,
                runs: vec![run.clone()],
            });
            continue;
        };
        known.runs.retain(|earlier| earlier.tested != run.tested);
        known.runs.push(run.clone());
    }
    for one in &mut found {
        let of = |tested| one.runs.iter().find(|run| run.tested == tested);
        one.result = match of(TestedTree::Before) {
            Some(before) => result(before, of(TestedTree::After)),
            None => inconclusive(Inconclusive::Refused(
                "it ran on no reviewed tree".to_owned(),
            )),
        };
        one.stronger = stronger(&one.result, &one.runs);
    }
    found
}

/// Whether a test that passes fails without what makes it pass. One that cannot run without it says nothing.
fn stronger(result: &DemonstrationResult, runs: &[DemonstrationRun]) -> bool {
    let tested = match result {
        DemonstrationResult::PassesAfter => TestedTree::After,
        DemonstrationResult::Passes => TestedTree::Before,
        DemonstrationResult::FailsBefore
        | DemonstrationResult::FailsAfter
        | DemonstrationResult::Inconclusive { .. } => return false,
    };
    let mut runs = runs.iter().filter(|run| run.tested == tested);
    let mut without = runs.find_map(|run| run.without.as_ref()).into_iter();
    without.any(|run| run.end == TestEnd::Failed)
}

/// What a demonstration shows: by its runs on the reviewed tree, and by its run after the coder's edits.
pub fn result(before: &DemonstrationRun, after: Option<&DemonstrationRun>) -> DemonstrationResult {
    if let Some(why) = &before.refused {
        return inconclusive(Inconclusive::Refused(why.clone()));
    }
    if let Some(why) = problem(before.claim, &before.runs) {
        return inconclusive(why);
    }
    if before.claim == Claim::NoDefect {
        return DemonstrationResult::Passes;
    }
    match after.and_then(|after| after.runs.last()).map(|run| run.end) {
        Some(TestEnd::Passed) => DemonstrationResult::PassesAfter,
        Some(TestEnd::Failed) => DemonstrationResult::FailsAfter,
        // A test that cannot run on the new code says nothing of it.
        Some(
            TestEnd::Broken
            | TestEnd::TimedOut
            | TestEnd::TookTooMuch
            | TestEnd::ChangedTree
            | TestEnd::Unclear,
        )
        | None => DemonstrationResult::FailsBefore,
    }
}

/// What a run shows by itself, in words.
pub fn alone(run: &DemonstrationRun) -> String {
    let is_stronger = run
        .without
        .as_ref()
        .is_some_and(|run| run.end == TestEnd::Failed);
    match (run.tested, run.runs.last().map(|last| last.end)) {
        (TestedTree::Before, _) | (TestedTree::After, None) => {
            let shown = demonstrated(std::slice::from_ref(run));
            shown.first().map(Demonstrated::shows).unwrap_or_default()
        }
        (TestedTree::After, Some(TestEnd::Passed)) if is_stronger => {
            "passes after the changes, and fails without them".to_owned()
        }
        (TestedTree::After, Some(TestEnd::Passed)) => "passes after the changes".to_owned(),
        (TestedTree::After, Some(TestEnd::Failed)) => "still fails after the changes".to_owned(),
        (TestedTree::After, Some(_)) => "cannot run after the changes".to_owned(),
    }
}

/// Whether a test that failed on the reviewed tree still fails. Such a finding stays open whatever the coder and the
/// re-check say.
pub fn still_fails(runs: &[DemonstrationRun]) -> bool {
    demonstrated(runs)
        .iter()
        .any(|one| one.result == DemonstrationResult::FailsAfter)
}

/// Returns the reason why a policy does not discard an objection: the test of the coder passes on the reviewed tree.
/// Nothing is decided by it: a judge rules with the run, or a person does.
pub fn passing_objection(runs: &[DemonstrationRun]) -> Option<String> {
    let shown = demonstrated(runs);
    let passing = shown
        .iter()
        .find(|one| one.by == Role::Coder && one.result == DemonstrationResult::Passes)?;
    let path = &passing.demonstration.path;
    Some(format!("`{path}` of the coder passes on the reviewed code"))
}

/// Returns the reason why a DISMISS does not count: a demonstration fails on the reviewed tree, and neither the
/// rationale nor a citation names its file. Grounds that speak of the run name it.
pub fn unheard(ruling: &Ruling, runs: &[DemonstrationRun]) -> Option<String> {
    if ruling.ruling != RulingWord::Dismiss {
        return None;
    }
    let shown = demonstrated(runs);
    let failing = shown.iter().filter(|one| one.result.failed_before());
    let path = failing.map(|one| &one.demonstration.path).find(|path| {
        let mut texts = std::iter::once(&ruling.rationale).chain(&ruling.citations);
        !texts.any(|text| text.as_written().contains(path.as_str()))
    })?;
    Some(format!(
        "the judge dismissed it without a word about `{path}`, which fails on the reviewed code"
    ))
}

/// Whether a mandatory finding does not block where a demonstration is required: it is a bug or a security finding, which a
/// test can show, and none of its demonstrations fails on the reviewed tree. One that was not run says nothing of it.
pub fn is_undemonstrated(category: Category, runs: &[DemonstrationRun]) -> bool {
    let is_testable = matches!(category, Category::Bug | Category::Security);
    let shown = demonstrated(runs);
    let mut shown = shown.iter().map(|one| &one.result);
    is_testable
        && !shown.any(|result| {
            let is_refused = matches!(
                result,
                DemonstrationResult::Inconclusive {
                    why: Inconclusive::Refused(_)
                }
            );
            result.failed_before() || is_refused
        })
}

fn inconclusive(why: Inconclusive) -> DemonstrationResult {
    DemonstrationResult::Inconclusive { why }
}

/// Why the runs on the reviewed tree do not show what is claimed.
fn problem(claim: Claim, runs: &[TestRun]) -> Option<Inconclusive> {
    let ended = |end: TestEnd| runs.iter().any(|run| run.end == end);
    let (wanted, opposite, contradiction) = match claim {
        Claim::Defect => (TestEnd::Failed, TestEnd::Passed, Inconclusive::Passes),
        Claim::NoDefect => (TestEnd::Passed, TestEnd::Failed, Inconclusive::Fails),
    };
    let is_one = runs.windows(2).all(|pair| pair[0].end == pair[1].end);
    if ended(TestEnd::ChangedTree) {
        Some(Inconclusive::ChangedTree)
    } else if ended(TestEnd::TimedOut) {
        Some(Inconclusive::TimedOut)
    } else if ended(TestEnd::TookTooMuch) {
        Some(Inconclusive::TookTooMuch)
    } else if ended(TestEnd::Unclear) {
        Some(Inconclusive::Unclear)
    } else if !is_one {
        Some(Inconclusive::Flaky)
    } else if ended(TestEnd::Broken) {
        Some(Inconclusive::Broken)
    } else if ended(opposite) {
        Some(contradiction)
    } else if runs.len() < RUNS || !ended(wanted) {
        Some(Inconclusive::Refused(
            "it did not run three times".to_owned(),
        ))
    } else if runs.iter().any(|run| run.reached == Some(false)) {
        Some(Inconclusive::NotReached)
    } else if runs.iter().any(|run| run.reached.is_none()) {
        Some(Inconclusive::ReachUnknown)
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{Demonstration, FindingId};
    use TestEnd::{Broken, ChangedTree, Failed, Passed, TimedOut, TookTooMuch, Unclear};

    fn ran(
        claim: Claim,
        tested: TestedTree,
        ends: &[TestEnd],
        reached: Option<bool>,
    ) -> DemonstrationRun {
        let run = |end: &TestEnd| TestRun {
            end: *end,
            reached,
            millis: 1,
            output: "".into(),
        };
        DemonstrationRun {
            finding: FindingId::new(1),
            claim,
            by: Role::Reviewer,
            demonstration: Demonstration {
                runner: "unittest".to_owned(),
                path: "tests/test_f1.py".to_owned(),
                code: "x".into(),
            },
            tree: format!("{tested:?}"),
            tested,
            command: "python3".to_owned(),
            runs: ends.iter().map(run).collect(),
            without: None,
            refused: None,
        }
    }

    #[test]
    fn what_is_not_blocked_where_a_demonstration_is_required() {
        use Category::{Architecture, Bug, Performance, Security, TestCoverage};
        let shown =
            |ends: &[TestEnd]| vec![ran(Claim::Defect, TestedTree::Before, ends, Some(true))];
        let mut refused = shown(&[]);
        refused[0].refused = Some("no sandbox".to_owned());
        let passing = ran(
            Claim::NoDefect,
            TestedTree::Before,
            &[Passed; 3],
            Some(true),
        );
        let rows = [
            (Bug, Vec::new(), true),
            (Security, Vec::new(), true),
            (Architecture, Vec::new(), false),
            (Performance, Vec::new(), false),
            (TestCoverage, Vec::new(), false),
            (Bug, shown(&[Failed; 3]), false),
            (Bug, shown(&[Passed; 3]), true),
            (Bug, shown(&[Broken]), true),
            (Bug, refused, false),
            (Bug, vec![passing], true),
        ];
        for (category, runs, expected) in rows {
            assert_eq!(
                is_undemonstrated(category, &runs),
                expected,
                "{category:?} {runs:?}"
            );
        }
    }

    /// The claim, the ends on the reviewed tree, whether the block was reached, the end after the coder's edits, and the
    /// result.
    type Row<'a> = (
        Claim,
        &'a [TestEnd],
        Option<bool>,
        Option<TestEnd>,
        DemonstrationResult,
    );

    #[test]
    fn the_table_of_results() {
        use Claim::{Defect, NoDefect};
        let shown = |why| DemonstrationResult::Inconclusive { why };
        let yes = Some(true);
        let rows: [Row<'_>; 24] = [
            (
                Defect,
                &[Failed; 3],
                yes,
                None,
                DemonstrationResult::FailsBefore,
            ),
            (
                Defect,
                &[Failed; 3],
                yes,
                Some(Passed),
                DemonstrationResult::PassesAfter,
            ),
            (
                Defect,
                &[Failed; 3],
                yes,
                Some(Failed),
                DemonstrationResult::FailsAfter,
            ),
            (
                Defect,
                &[Failed; 3],
                yes,
                Some(Broken),
                DemonstrationResult::FailsBefore,
            ),
            (
                Defect,
                &[Failed; 3],
                yes,
                Some(TimedOut),
                DemonstrationResult::FailsBefore,
            ),
            (
                Defect,
                &[Failed; 3],
                yes,
                Some(ChangedTree),
                DemonstrationResult::FailsBefore,
            ),
            (
                Defect,
                &[Failed; 3],
                Some(false),
                Some(Passed),
                shown(Inconclusive::NotReached),
            ),
            (
                Defect,
                &[Failed; 3],
                None,
                Some(Passed),
                shown(Inconclusive::ReachUnknown),
            ),
            (
                Defect,
                &[Failed, Failed, Passed],
                yes,
                Some(Passed),
                shown(Inconclusive::Flaky),
            ),
            (
                Defect,
                &[Passed, Failed],
                yes,
                None,
                shown(Inconclusive::Flaky),
            ),
            (
                Defect,
                &[Failed, Failed, Broken],
                yes,
                None,
                shown(Inconclusive::Flaky),
            ),
            (
                Defect,
                &[Passed; 3],
                yes,
                Some(Passed),
                shown(Inconclusive::Passes),
            ),
            (
                Defect,
                &[Broken],
                yes,
                Some(Passed),
                shown(Inconclusive::Broken),
            ),
            (
                Defect,
                &[TimedOut],
                yes,
                None,
                shown(Inconclusive::TimedOut),
            ),
            (
                Defect,
                &[Failed, TimedOut],
                yes,
                None,
                shown(Inconclusive::TimedOut),
            ),
            (
                Defect,
                &[TookTooMuch],
                yes,
                None,
                shown(Inconclusive::TookTooMuch),
            ),
            (Defect, &[Unclear], yes, None, shown(Inconclusive::Unclear)),
            (
                Defect,
                &[Failed, ChangedTree],
                yes,
                None,
                shown(Inconclusive::ChangedTree),
            ),
            (
                Defect,
                &[Failed; 2],
                yes,
                None,
                shown(Inconclusive::Refused("it did not run three times".into())),
            ),
            (
                NoDefect,
                &[Passed; 3],
                yes,
                None,
                DemonstrationResult::Passes,
            ),
            (
                NoDefect,
                &[Passed; 3],
                Some(false),
                None,
                shown(Inconclusive::NotReached),
            ),
            (
                NoDefect,
                &[Failed; 3],
                yes,
                None,
                shown(Inconclusive::Fails),
            ),
            (NoDefect, &[Broken], yes, None, shown(Inconclusive::Broken)),
            (
                NoDefect,
                &[Passed, Passed, Failed],
                yes,
                None,
                shown(Inconclusive::Flaky),
            ),
        ];
        for (claim, before, reached, after, expected) in rows {
            let before = ran(claim, TestedTree::Before, before, reached);
            let after = after.map(|end| ran(claim, TestedTree::After, &[end], None));
            assert_eq!(
                result(&before, after.as_ref()),
                expected,
                "{before:?} {after:?}"
            );
        }
        let refused = DemonstrationRun {
            refused: Some("no sandbox".to_owned()),
            ..ran(Defect, TestedTree::Before, &[], None)
        };
        assert_eq!(
            result(&refused, None).to_string(),
            "inconclusive: not run: no sandbox"
        );
    }

    #[test]
    fn a_test_that_fails_without_what_makes_it_pass_is_stronger() {
        use Claim::{Defect, NoDefect};
        let rows = [
            (Defect, Some(Passed), Some(Failed), true),
            (Defect, Some(Passed), Some(Passed), false),
            (Defect, Some(Passed), Some(Broken), false),
            (Defect, Some(Passed), Some(Unclear), false),
            (Defect, Some(Passed), None, false),
            (Defect, Some(Failed), Some(Failed), false),
            (NoDefect, None, Some(Failed), true),
            (NoDefect, None, Some(Passed), false),
            (NoDefect, None, Some(Unclear), false),
            (NoDefect, None, None, false),
        ];
        for (claim, after, without, expected) in rows {
            let before = if claim == Defect { Failed } else { Passed };
            let mut runs = vec![ran(claim, TestedTree::Before, &[before; 3], Some(true))];
            runs.extend(after.map(|end| ran(claim, TestedTree::After, &[end], None)));
            let last = runs.last_mut().expect("a run");
            let ends = without.map(|end| ran(claim, TestedTree::After, &[end], None));
            last.without = ends.and_then(|mut run| run.runs.pop());
            let shown = demonstrated(&runs);
            assert_eq!(
                shown[0].stronger, expected,
                "{claim:?} {after:?} {without:?}"
            );
            assert_eq!(shown[0].shows().contains("fails without"), expected);
        }
        // An objection whose test does not pass three times is not stronger.
        let mut flaky = ran(NoDefect, TestedTree::Before, &[Passed, Failed], Some(true));
        flaky.without = flaky.runs.last().cloned();
        assert!(!demonstrated(&[flaky])[0].stronger);
    }

    #[test]
    fn the_last_run_on_each_tree_counts() {
        let before = ran(Claim::Defect, TestedTree::Before, &[Failed; 3], Some(true));
        let after = |end| ran(Claim::Defect, TestedTree::After, &[end], None);
        let rows: [(&[DemonstrationRun], bool); 4] = [
            (std::slice::from_ref(&before), false),
            (&[before.clone(), after(Failed)], true),
            (&[before.clone(), after(Failed), after(Passed)], false),
            (&[before.clone(), after(Passed), after(Failed)], true),
        ];
        for (runs, expected) in rows {
            assert_eq!(still_fails(runs), expected, "{runs:?}");
        }
    }

    #[test]
    fn the_table_of_objections_that_no_policy_discards() {
        let of = |by, claim, ends, reached| DemonstrationRun {
            by,
            ..ran(claim, TestedTree::Before, ends, reached)
        };
        let yes = Some(true);
        let rows = [
            (of(Role::Coder, Claim::NoDefect, &[Passed; 3], yes), true),
            (
                of(Role::Coder, Claim::NoDefect, &[Passed; 3], Some(false)),
                false,
            ),
            (of(Role::Coder, Claim::NoDefect, &[Passed; 3], None), false),
            (of(Role::Coder, Claim::NoDefect, &[Failed; 3], yes), false),
            (
                of(Role::Coder, Claim::NoDefect, &[Passed, Failed], yes),
                false,
            ),
            (of(Role::Reviewer, Claim::Defect, &[Failed; 3], yes), false),
        ];
        for (run, expected) in rows {
            let why = passing_objection(std::slice::from_ref(&run));
            assert_eq!(why.is_some(), expected, "{run:?}");
        }
    }

    #[test]
    fn a_dismissal_speaks_of_the_test_that_fails() {
        let failing = [ran(
            Claim::Defect,
            TestedTree::Before,
            &[Failed; 3],
            Some(true),
        )];
        let passing = [ran(
            Claim::NoDefect,
            TestedTree::Before,
            &[Passed; 3],
            Some(true),
        )];
        let ruling = |word, rationale: &str| Ruling {
            rationale: rationale.into(),
            ..Ruling::bare(word)
        };
        use RulingWord::{Dismiss, Enforce, Escalate};
        let named = "tests/test_f1.py expects a rounded sum, which nobody asks for";
        let rows: [(RulingWord, &str, &[DemonstrationRun], bool); 6] = [
            (Dismiss, "fine", &failing, true),
            (Dismiss, named, &failing, false),
            (Dismiss, "fine", &passing, false),
            (Dismiss, "fine", &[], false),
            (Enforce, "", &failing, false),
            (Escalate, "", &failing, false),
        ];
        for (word, rationale, runs, expected) in rows {
            let found = unheard(&ruling(word, rationale), runs);
            assert_eq!(found.is_some(), expected, "{word:?} {rationale} {found:?}");
        }
        let cited = Ruling {
            citations: vec!["tests/test_f1.py:4".into()],
            ..ruling(Dismiss, "fine")
        };
        assert_eq!(unheard(&cited, &failing), None);
    }
}
