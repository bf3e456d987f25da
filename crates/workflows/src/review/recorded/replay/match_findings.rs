//! Matches the findings of one list with the findings of another list. Two findings match if they come from the
//! same raw finding of a reviewer.

use std::collections::HashMap;

use glee_model::domain::Finding;

fn is_same(a: &Finding, b: &Finding) -> bool {
    if a.sources().next().is_some() && b.sources().next().is_some() {
        return a
            .sources()
            .any(|source| b.sources().any(|other| other == source));
    }
    a.round == b.round
        && a.raw.title == b.raw.title
        && a.raw.file == b.raw.file
        && a.raw.line == b.raw.line
}

/// Findings without a recorded source are matched by round, title, file and line.
type Words<'a> = (u32, &'a str, Option<&'a str>, Option<u32>);

fn words(finding: &Finding) -> Words<'_> {
    (
        finding.round,
        finding.raw.title.as_written(),
        finding.raw.file.as_deref(),
        finding.raw.line,
    )
}

pub(super) struct Same<'a> {
    findings: Vec<&'a Finding>,
    by_source: HashMap<&'a str, Vec<usize>>,
    by_words: HashMap<Words<'a>, Vec<usize>>,
}

impl<'a> Same<'a> {
    pub(super) fn of(findings: impl IntoIterator<Item = &'a Finding>) -> Self {
        let findings: Vec<&Finding> = findings.into_iter().collect();
        let mut by_source = HashMap::<_, Vec<_>>::new();
        let mut by_words = HashMap::<_, Vec<_>>::new();
        for (index, finding) in findings.iter().enumerate() {
            by_words.entry(words(finding)).or_default().push(index);
            for source in finding.sources() {
                by_source.entry(source).or_default().push(index);
            }
        }
        Self {
            findings,
            by_source,
            by_words,
        }
    }

    pub(super) fn places(&self, finding: &Finding) -> Vec<usize> {
        let by_source = finding
            .sources()
            .filter_map(|source| self.by_source.get(source))
            .flatten();
        let by_words = self.by_words.get(&words(finding)).into_iter().flatten();
        let mut found: Vec<usize> = by_source.chain(by_words).copied().collect();
        found.sort_unstable();
        found.dedup();
        found.retain(|index| is_same(self.findings[*index], finding));
        found
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use glee_model::domain::{
        AgentName, Class, Confidence, Corroboration, FindingId, Position, RawFinding, Severity, Tag,
    };

    fn finding_of(round: u32, title: u32, line: Option<u32>, said: &[u32]) -> Finding {
        let severity = Severity::known(Tag::Must);
        let position = |said: &u32| Position {
            denial: "".into(),
            said: said.to_string(),
            reviewer: AgentName::from("r"),
            severity: severity.clone(),
            confidence: None,
            denies: false,
            observed: false,
        };
        let consensus = Corroboration {
            class: Class::Accepted,
            reviewers: 2,
            vendors: None,
            positions: said.iter().map(position).collect(),
            confirmed_by: Vec::new(),
            assessments: Vec::new(),
            confidence: Some(Confidence::clamped(50)),
            formula: String::new(),
            score: None,
            why: String::new(),
            would_decide: String::new(),
            notes: Vec::new(),
            escalate: false,
            doubted: false,
            withdrawn: false,
        };
        let raw = RawFinding {
            severity: severity.clone(),
            title: title.to_string().into(),
            file: line.map(|_| "a".to_owned()),
            line,
            ..RawFinding::default()
        };
        Finding {
            mandatory: true,
            raised_by: vec![AgentName::from("r")],
            round,
            consensus: (!said.is_empty()).then_some(consensus),
            ..Finding::raised(FindingId::new(1), raw)
        }
    }

    proptest! {
        /// Checks that a lookup in the index and a linear search have the same results.
        #[test]
        fn the_index_agrees_with_a_walk(
            list in proptest::collection::vec(
                (1..3_u32, 0..3_u32, proptest::option::of(0..2_u32), proptest::collection::vec(0..4_u32, 0..3)), 0..12),
            wanted in (1..3_u32, 0..3_u32, proptest::option::of(0..2_u32), proptest::collection::vec(0..4_u32, 0..3)),
        ) {
            let make = |(round, title, line, said): &(u32, u32, Option<u32>, Vec<u32>)| finding_of(*round, *title, *line, said);
            let findings: Vec<Finding> = list.iter().map(make).collect();
            let wanted = make(&wanted);
            let walked: Vec<usize> =
                (0..findings.len()).filter(|index| is_same(&findings[*index], &wanted)).collect();
            prop_assert_eq!(Same::of(&findings).places(&wanted), walked);
        }
    }
}
