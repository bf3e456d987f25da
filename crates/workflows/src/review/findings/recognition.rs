//! Recognises findings that were raised before: earlier in the run, or in a dispute of an earlier run, whose ruling
//! then applies to them.

use std::cell::{LazyCell, OnceCell};
use std::collections::{BTreeMap, BTreeSet, HashMap};

use crate::review::findings::numbers::place_and_title;
use crate::review::findings::pairing::{
    Originals, Pair, anchored_places, likenesses, pairs, sureness,
};
use crate::review::findings::relations::{self, may_close};
use crate::review::findings::round::{MergeSettings, Round, TextOf};
use crate::review::state::ReviewState;
use glee_model::domain::event::{EventKind, ReviewEvent};
use glee_model::domain::{
    AgentName, Anchor, Disposition, DisputeNumber, Finding, FindingId, Relation, RulingRef, RunId,
    Severity,
};
use glee_model::rules::consensus::similarity::identity::Wordings;
use glee_model::rules::consensus::similarity::likeness::Likeness;
use glee_protocol::request::{RulingInForce, SourceFile};
use glee_store::history::queries::rows::Binding;
use glee_workspace::code::anchors::Blocks;

/// Maps the indices of the elements of `findings` that repeat an open finding of this run to the open finding.
pub fn repeated(
    state: &ReviewState,
    findings: &[Finding],
    text_of: TextOf<'_>,
) -> BTreeMap<usize, FindingId> {
    let open: Vec<&Finding> = state
        .findings
        .iter()
        .filter(|earlier| {
            !state.finding_state(earlier).is_closed() && state.dispute_of(earlier.id).is_none()
        })
        .collect();
    let (places, known) = anchored_places(open.iter().copied());
    let (indexes, found) = anchored_places(findings);
    let pairs = likenesses(&known, &found, text_of);
    // A finding with several places repeats an earlier finding only if the earlier finding has all these places.
    let mut shared: BTreeSet<(usize, usize)> = BTreeSet::new();
    shared.extend(pairs.iter().map(|pair| (places[pair.known], pair.found)));
    let mut repeated = BTreeMap::new();
    let mut taken = BTreeSet::new();
    for Pair { known, found, .. } in pairs {
        // Two findings of one reviewer in one round are different problems. Therefore, at most one finding of a
        // reviewer repeats a given earlier finding.
        let index = indexes[found];
        let earlier = places[known];
        let by = || findings[index].raised_by.iter().map(|name| (earlier, name));
        let mut own = (0..indexes.len()).filter(|place| indexes[*place] == index);
        if !repeated.contains_key(&index)
            && by().all(|pair| !taken.contains(&pair))
            && own.all(|place| shared.contains(&(earlier, place)))
        {
            taken.extend(by());
            repeated.insert(index, open[earlier].id);
        }
    }
    // If one of two findings has no anchor, the findings are equal only if their locations and titles are equal.
    let mut at: HashMap<_, Vec<&Finding>> = HashMap::new();
    for earlier in open
        .iter()
        .copied()
        .filter(|earlier| earlier.raw.file.is_some())
    {
        at.entry(place_and_title(earlier))
            .or_default()
            .push(earlier);
    }
    for (index, finding) in findings.iter().enumerate() {
        let same = at.get(&place_and_title(finding));
        let mut same = same.into_iter().flatten();
        let same = same.find(|earlier| earlier.anchor.is_none() || finding.anchor.is_none());
        if let Some(earlier) = same {
            repeated.insert(index, earlier.id);
        }
    }
    repeated
}

/// Applies earlier disputes to findings of a round.
///
/// A finding that refers to a ruling is bound by this ruling if the finding cites no new evidence. A ruling can
/// also bind a finding that does not refer to the ruling, if it judged each place of the finding. A dispute is about
/// one problem. Therefore, the ruling of a dispute binds at most one finding of each reviewer for each finding that it
/// judged. If several pairs of a dispute and a finding are possible,
/// the most similar pair takes precedence. Among equally similar pairs, the pair with the newest dispute takes
/// precedence. An expired ruling binds no finding. If only an expired ruling applies, a notice reports the expiry. A
/// ruling also binds nothing if code that it cites no longer stands, or if its code moved to another ground. If only
/// such a ruling applies, the finding refers to it.
/// A finding that no dispute binds can still refer to a related dispute.
pub fn earlier<'a>(
    findings: impl IntoIterator<Item = &'a Finding>,
    bindings: &[Binding],
    round: &Round<'_>,
) -> Vec<EventKind> {
    let recorded = bindings;
    let bindings: Vec<&Binding> = not_reopened(bindings).collect();
    let findings: Vec<&Finding> = findings.into_iter().collect();
    let mut events = relations::named(&findings, &bindings, round);
    let is_named: BTreeSet<FindingId> = events.iter().filter_map(relations::subject).collect();
    let unnamed: Vec<&Finding> = findings
        .into_iter()
        .filter(|finding| !is_named.contains(&finding.id))
        .collect();
    let (mut sure, unsure): (Vec<Ruled<'_>>, _) =
        ruled_findings(&unnamed, &bindings, recorded, round)
            .into_iter()
            .partition(|one| one.likeness.same().is_some());
    let is_over = |one: &Ruled<'_>| one.binding.ended.is_some() || one.fallen.is_some();
    let likeness = |one: &Ruled<'_>| one.likeness.same().unwrap_or_default();
    sure.sort_by(|a, b| {
        is_over(a)
            .cmp(&is_over(b))
            .then(likeness(b).total_cmp(&likeness(a)))
            .then_with(|| age(b.binding).cmp(&age(a.binding)))
            .then(a.index.cmp(&b.index))
    });
    let mut bound: BTreeMap<usize, Ruled<'_>> = BTreeMap::new();
    let mut taken: BTreeSet<((&RulingRef, FindingId), &AgentName)> = BTreeSet::new();
    for one in sure {
        let by = || one.finding.raised_by.iter().map(|name| (one.judged, name));
        if !bound.contains_key(&one.index) && by().all(|pair| !taken.contains(&pair)) {
            taken.extend(by());
            bound.insert(one.index, one);
        }
    }
    let unsure: Vec<relations::Unsure<'_>> = unsure
        .into_iter()
        .filter(|one| {
            let mut by = one.finding.raised_by.iter();
            let is_taken = by.any(|name| taken.contains(&(one.judged, name)));
            one.finding.mandatory
                && one.fallen.is_none()
                && !bound.contains_key(&one.index)
                && !is_taken
                && one.binding.new_tag.is_none()
                && one.binding.ended.is_none()
        })
        .filter_map(|one| {
            Some(relations::Unsure {
                likeness: one.likeness.unsure()?,
                binding: one.binding,
                finding: one.finding,
            })
        })
        .collect();
    let free = unnamed
        .iter()
        .enumerate()
        .filter(|(index, _)| !bound.contains_key(index));
    let changed = relations::changed(free.map(|(_, finding)| *finding), &bindings, round);
    let has_changed: BTreeSet<FindingId> = changed.iter().filter_map(relations::subject).collect();
    for Ruled {
        finding,
        binding,
        fallen,
        ..
    } in bound.into_values()
    {
        events.extend(match fallen.filter(|_| binding.ended.is_none()) {
            Some(relation) => Some(relations::related(finding.id, binding, relation)),
            None => ruled(finding, binding, round.lists),
        });
    }
    events.extend(changed);
    events.extend(relations::may_repeat(unsure, &has_changed));
    events
}

/// A finding that certainly or possibly repeats a finding that a dispute is about.
struct Ruled<'a> {
    likeness: Likeness,
    binding: &'a Binding,
    /// The dispute, and the finding of the dispute.
    judged: (&'a RulingRef, FindingId),
    finding: &'a Finding,
    /// The index of the finding in the list of findings.
    index: usize,
    /// The reason why the ruling does not bind the finding.
    fallen: Option<Relation>,
}

/// The findings that repeat findings of disputes. A finding certainly repeats one if they have a place in common. It
/// possibly repeats one if this is uncertain for each of its places.
fn ruled_findings<'a>(
    findings: &[&'a Finding],
    bindings: &[&'a Binding],
    recorded: &'a [Binding],
    round: &Round<'_>,
) -> Vec<Ruled<'a>> {
    let mut judged: Vec<(&Binding, FindingId, &Anchor)> = Vec::new();
    for binding in bindings {
        judged.extend(
            binding
                .anchors()
                .map(|anchor| (*binding, binding.finding, anchor)),
        );
        // A dispute that reopens another one is about the findings of that one, too.
        let mut reopened = binding.reopens;
        while let Some(number) = reopened {
            let earlier = || recorded.iter().filter(|one| one.number() == Some(number));
            for one in earlier() {
                judged.extend(one.anchors().map(|anchor| (*binding, one.finding, anchor)));
            }
            reopened = earlier().find_map(|one| one.reopens);
        }
    }
    let known: Vec<&Anchor> = judged.iter().map(|(.., anchor)| *anchor).collect();
    let (indexes, found) = anchored_places(findings.iter().copied());
    let mut own: Vec<Vec<usize>> = vec![Vec::new(); findings.len()];
    for (place, index) in indexes.iter().enumerate() {
        own[*index].push(place);
    }
    // For each finding of a dispute and each finding, the surest likeness of each place of the latter.
    let mut by_finding: BTreeMap<_, BTreeMap<usize, (Likeness, usize)>> = BTreeMap::new();
    for pair in pairs(&known, &found, round.text_of) {
        let Pair {
            likeness,
            known: at,
            found: place,
        } = pair;
        let (binding, finding, _) = judged[at];
        let places = by_finding
            .entry(((&binding.dispute, finding), indexes[place]))
            .or_default();
        let best = places.entry(place).or_insert((likeness, at));
        if best.0.same().is_none() && likeness.same().is_some() {
            *best = (likeness, at);
        }
    }
    let mut ruled = Vec::new();
    for ((judged_finding, index), places) in by_finding {
        let finding = findings[index];
        let is_same = |(likeness, _): &&(Likeness, usize)| likeness.same().is_some();
        let same = places.values().filter(is_same).count();
        if same == 0 && places.len() < own[index].len() {
            continue;
        }
        let least = places
            .values()
            .filter(|place| same == 0 || is_same(place))
            .min_by(|a, b| sureness(a.0).total_cmp(&sureness(b.0)));
        let Some((likeness, at)) = least else {
            continue;
        };
        let binding = judged[*at].0;
        let matched: Vec<(&Anchor, &Anchor)> = places
            .iter()
            .map(|(place, (_, at))| (known[*at], found[*place]))
            .collect();
        let fallen = relations::fallen(binding, &matched, round.text_of).or_else(|| {
            let is_judged =
                |place: &usize| same == 0 || places.get(place).as_ref().is_some_and(is_same);
            let mut own = own[index].iter().zip(finding.anchored());
            let (_, (place, _)) = own.find(|(place, _)| !is_judged(place))?;
            binding.disposition.as_ref()?;
            Some(Relation::NotJudged { place })
        });
        ruled.push(Ruled {
            likeness: *likeness,
            binding,
            judged: judged_finding,
            finding,
            index,
            fallen,
        });
    }
    ruled
}

/// A sort key that orders the bindings of rulings from the oldest to the newest. An open dispute counts as newer
/// than any ruling.
pub fn age(binding: &Binding) -> impl Ord + use<'_> {
    (
        binding.settled_at.is_none(),
        binding.settled_at,
        &binding.dispute,
    )
}

fn not_reopened(bindings: &[Binding]) -> impl Iterator<Item = &Binding> {
    let reopened: BTreeSet<DisputeNumber> = bindings
        .iter()
        .filter_map(|binding| binding.reopens)
        .collect();
    bindings.iter().filter(move |binding| {
        binding
            .number()
            .is_none_or(|number| !reopened.contains(&number))
    })
}

/// The event for a finding that matches an earlier dispute. Returns `None` if the ruling gave the finding a new
/// tag that is mandatory under the current settings.
fn ruled(found: &Finding, binding: &Binding, lists: &MergeSettings) -> Option<EventKind> {
    let finding = found.id;
    let dispute = binding.dispute.clone();
    let new_tag = binding.new_tag;
    let Some(disposition) = binding.disposition.clone() else {
        let RulingRef::Number(dispute) = dispute else {
            return None;
        };
        return Some(EventKind::Review(ReviewEvent::StillDisputed {
            finding,
            dispute,
        }));
    };
    if let Some(day) = binding.ended {
        let text = format!("{finding}: the ruling of dispute {dispute} ended on {day}");
        return Some(EventKind::notice(text));
    }
    if !may_close(found, binding) {
        let text = format!(
            "{finding}: the shared ruling {dispute} does not bind: a security finding is closed only where a person \
             answers for it"
        );
        return Some(EventKind::notice(text));
    }
    (!new_tag.is_some_and(|tag| lists.is_mandatory(&Severity::known(tag)))).then_some(
        EventKind::Review(ReviewEvent::AlreadyRuled {
            finding,
            dispute,
            disposition,
            new_tag,
            insisted: false,
        }),
    )
}

/// The rulings of the history that reviewers have to know, as far as their code stands.
pub(crate) struct ClosingRulings<'a> {
    rulings: Vec<&'a Binding>,
    text_of: TextOf<'a>,
    by_file: HashMap<&'a str, Vec<(usize, &'a Anchor)>>,
    /// The anchors whose blocks can have moved to another file, by their blocks.
    lost: OnceCell<HashMap<&'a str, Vec<(usize, &'a Anchor)>>>,
}

impl<'a> ClosingRulings<'a> {
    pub(crate) fn of(bindings: &'a [Binding], text_of: TextOf<'a>) -> Self {
        // A ruling that changed nothing but the tag of a finding is left out, so that reviewers raise the finding
        // again.
        let rulings = not_reopened(bindings).filter(|binding| {
            let disposition = binding.disposition.as_ref();
            disposition.is_some_and(Disposition::closes)
                && binding.new_tag.is_none()
                && binding.ended.is_none()
        });
        let rulings: Vec<&Binding> = rulings.collect();
        let mut by_file: HashMap<&str, Vec<(usize, &Anchor)>> = HashMap::new();
        for (index, binding) in rulings.iter().enumerate() {
            for anchor in binding.anchors() {
                by_file
                    .entry(&anchor.file)
                    .or_default()
                    .push((index, anchor));
            }
        }
        Self {
            rulings,
            text_of,
            by_file,
            lost: OnceCell::new(),
        }
    }

    fn lost(&self) -> &HashMap<&'a str, Vec<(usize, &'a Anchor)>> {
        self.lost.get_or_init(|| {
            let originals = Originals::of(self.text_of);
            let mut lost: HashMap<&str, Vec<(usize, &Anchor)>> = HashMap::new();
            for (index, anchor) in self.by_file.values().flatten() {
                if originals.lost(anchor) {
                    lost.entry(&anchor.block)
                        .or_default()
                        .push((*index, anchor));
                }
            }
            lost
        })
    }

    /// The rulings in force about code in `files`, or about code that moved to one of these files.
    pub(crate) fn in_force(&self, files: &[SourceFile]) -> Vec<RulingInForce> {
        let mut in_force = BTreeSet::new();
        for file in files {
            // A file is parsed only for a ruling that can be about its code.
            let blocks = LazyCell::new(|| Blocks::of(&file.path, &file.text));
            let own = self.by_file.get(file.path.as_str()).into_iter().flatten();
            let own = own.filter(|(_, anchor)| blocks.place(anchor).is_some());
            let lost = self.lost();
            let moved = (!lost.is_empty())
                .then(|| blocks.hashes())
                .into_iter()
                .flatten()
                .filter_map(|block| lost.get(block.as_str()))
                .flatten();
            for (index, anchor) in own.chain(moved) {
                if blocks.ground() == anchor.ground
                    && relations::lost(self.rulings[*index], &[&file.path], self.text_of).is_none()
                {
                    in_force.insert(*index);
                }
            }
        }
        let in_force = in_force.into_iter().map(|index| self.rulings[index]);
        in_force.filter_map(shown).collect()
    }
}

/// Converts a binding to the ruling that reviewers and judges receive. Returns `None` while the dispute is open.
fn shown(binding: &Binding) -> Option<RulingInForce> {
    Some(RulingInForce {
        dispute: binding.dispute.clone(),
        location: binding.location.clone(),
        title: binding.title.clone(),
        disposition: binding.disposition.clone()?,
        rationale: binding.rationale.clone(),
    })
}

/// The place of a ruling: the rank of the ruling by age, the index of the place, and its anchor.
type RuledPlace<'a> = (usize, usize, &'a Anchor);

/// Maps the index of each superseded ruling to the index of the later ruling on the same problem.
///
/// Each finding of a run is a separate problem. Each ruling is about one problem. Therefore, a ruling supersedes
/// at most one ruling of each of the other runs. It supersedes only a ruling all of whose places it judged, too.
pub fn superseded(bindings: &[Binding]) -> BTreeMap<usize, usize> {
    let mut oldest_first: Vec<usize> = (0..bindings.len())
        .filter(|index| bindings[*index].disposition.is_some())
        .collect();
    oldest_first.sort_by(|a, b| age(&bindings[*a]).cmp(&age(&bindings[*b])));
    let mut blocks: HashMap<(&str, &str), Vec<RuledPlace<'_>>> = HashMap::new();
    for (rank, index) in oldest_first.iter().enumerate() {
        for (place, anchor) in bindings[*index].anchors().enumerate() {
            let block = blocks.entry((&anchor.file, &anchor.block)).or_default();
            block.push((rank, place, anchor));
        }
    }
    // For each ruling and each earlier one, how sure it is that the ruling judged each place of the earlier one.
    let mut judged: BTreeMap<usize, BTreeMap<usize, BTreeMap<usize, f32>>> = BTreeMap::new();
    for places in blocks.into_values().filter(|places| places.len() > 1) {
        let wordings = Wordings::of(places.iter().map(|(.., anchor)| *anchor));
        for (later, (new, _, new_anchor)) in places.iter().enumerate() {
            for (earlier, (old, place, old_anchor)) in places[..later].iter().enumerate() {
                if bindings[oldest_first[*new]].run == bindings[oldest_first[*old]].run {
                    continue;
                }
                let offsets = new_anchor.offset.zip(old_anchor.offset);
                let distance = offsets.map(|(a, b)| a.abs_diff(b));
                let same = wordings.compare(earlier, later, distance).same();
                let of_new = judged.entry(*new).or_default();
                let of_old = of_new.entry(*old).or_default();
                of_old.extend(same.map(|sure| (*place, sure)));
            }
        }
    }
    let mut superseded = BTreeMap::new();
    for (new, earlier) in judged {
        let mut surest: HashMap<&RunId, (f32, usize)> = HashMap::new();
        for (old, places) in earlier {
            let index = oldest_first[old];
            let binding = &bindings[oldest_first[old]];
            if superseded.contains_key(&index) || places.len() < binding.anchors().count() {
                continue;
            }
            let sure = places.into_values().fold(f32::INFINITY, f32::min);
            let known = surest.entry(&binding.run).or_insert((sure, index));
            if sure > known.0 {
                *known = (sure, index);
            }
        }
        let later = oldest_first[new];
        superseded.extend(surest.into_values().map(|(_, earlier)| (earlier, later)));
    }
    superseded
}

const PRECEDENTS: usize = 3;

/// The minimum cosine similarity between the words of a finding and the words of a precedent.
const SIMILAR: f32 = 0.3;

/// Earlier rulings on similar findings about other code. The ruling on the most similar finding comes first. Two
/// findings are similar if they have the same file or the same category, and also have similar words.
pub fn precedents<'a>(
    finding: &Finding,
    candidates: impl IntoIterator<Item = &'a Binding>,
) -> Vec<RulingInForce> {
    let Some(anchor) = &finding.anchor else {
        return Vec::new();
    };
    let concerns = |other: &Anchor| other.file == anchor.file || other.category == anchor.category;
    let candidates: Vec<&Binding> = candidates
        .into_iter()
        .filter(|binding| binding.disposition.is_some() && binding.ended.is_none())
        .filter(|binding| binding.anchor.block != anchor.block && concerns(&binding.anchor))
        .collect();
    let wordings = Wordings::of(
        std::iter::once(anchor).chain(candidates.iter().map(|binding| &binding.anchor)),
    );
    let similar = (1..).zip(candidates).filter_map(|(index, binding)| {
        let resemblance = wordings
            .resemblance(0, index)
            .filter(|cosine| *cosine >= SIMILAR)?;
        Some((resemblance, binding))
    });
    let mut similar: Vec<(f32, &Binding)> = similar.collect();
    similar.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| age(b.1).cmp(&age(a.1))));
    let mut disputes = BTreeSet::new();
    similar.retain(|(_, binding)| disputes.insert(&binding.dispute));
    similar.truncate(PRECEDENTS);
    similar
        .into_iter()
        .filter_map(|(_, binding)| shown(binding))
        .collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::review::findings::pairing::closest_first;
    use glee_model::domain::{DisputeNumber, FindingId, RawFinding, Tag};
    use glee_model::rules::consensus::Policy;
    use glee_store::config::choices::OlderFindings;

    const TITLES: [&str; 6] = [
        "weak hash",
        "a weak hash is used",
        "weak md5 hash",
        "sql injection",
        "remove the lock",
        "add the lock",
    ];

    fn anchor((block, title, offset): (u8, usize, Option<u32>)) -> Anchor {
        Anchor {
            file: "a.py".into(),
            block: format!("b{block}"),
            category: "bug".into(),
            text: TITLES[title].into(),
            offset,
            ..Anchor::default()
        }
    }

    fn finding(number: usize, place: (u8, usize, Option<u32>), by: &[u8]) -> Finding {
        Finding {
            mandatory: true,
            raised_by: by
                .iter()
                .map(|name| AgentName::from(name.to_string().as_str()))
                .collect(),
            anchor: Some(anchor(place)),
            ..Finding::raised(
                FindingId::new(u32::try_from(number).expect("few") + 1),
                RawFinding {
                    severity: Severity::known(Tag::Must),
                    title: TITLES[place.1].into(),
                    file: Some("a.py".into()),
                    line: place.2,
                    ..RawFinding::default()
                },
            )
        }
    }

    fn binding(number: u64, anchor: Anchor) -> Binding {
        Binding {
            dispute: DisputeNumber(number).into(),
            run: RunId("r".into()),
            finding: FindingId::new(1),
            anchor,
            title: "".into(),
            location: None,
            also: Vec::new(),
            disposition: Some(Disposition::Refuted),
            new_tag: None,
            rationale: "".into(),
            settled_at: None,
            until: None,
            ended: None,
            is_vouched: true,
            problem: None,
            cited: Vec::new(),
            reopens: None,
        }
    }

    fn told(findings: &[Finding], bindings: &[Binding]) -> Vec<EventKind> {
        let state = ReviewState::default();
        let lists = lists();
        earlier(
            findings,
            bindings,
            &Round {
                state: &state,
                lists: &lists,
                text_of: &no_text,
                past: None,
            },
        )
    }

    fn bound<'a>(
        findings: impl IntoIterator<Item = &'a Finding>,
        bindings: &[Binding],
        text_of: TextOf<'_>,
    ) -> Vec<EventKind> {
        let state = ReviewState::default();
        let lists = lists();
        let mut events = earlier(
            findings,
            bindings,
            &Round {
                state: &state,
                lists: &lists,
                text_of,
                past: None,
            },
        );
        events.retain(|event| {
            matches!(
                event,
                EventKind::Review(
                    ReviewEvent::AlreadyRuled { .. } | ReviewEvent::StillDisputed { .. }
                )
            )
        });
        events
    }

    #[derive(serde::Deserialize)]
    struct Table {
        code: BTreeMap<String, String>,
        group: Vec<Group>,
    }

    #[derive(serde::Deserialize)]
    struct Group {
        what: String,
        same: bool,
        now: Option<String>,
        file: Option<String>,
        pairs: Vec<(u32, String, u32, String)>,
    }

    #[test]
    fn the_table_of_pairs() {
        let table: Table =
            toml::from_str(include_str!("../../../../../tests/recognition/pairs.toml"))
                .expect("the table is read");
        let mut wrong = Vec::new();
        for Group {
            what,
            same,
            now,
            file,
            pairs,
        } in &table.group
        {
            let before = table.code["before"].as_str();
            let now = now.as_deref().map_or(before, |name| &table.code[name]);
            let file = file.as_deref().unwrap_or("app.py");
            let is_copied = file != "app.py" && now == before;
            let text_of = |path: &str| match path {
                _ if path == file => now.to_owned(),
                "app.py" if is_copied => before.to_owned(),
                _ => String::new(),
            };
            for (line, title, line_now, title_now) in pairs {
                let finding = |path: &str, code: &str, line: u32, title: &str| {
                    let mut finding = finding(0, (0, 0, Some(line)), &[0]);
                    finding.raw.title = title.into();
                    finding.anchor = Some(Blocks::of(path, code).anchor(&finding.raw));
                    finding
                };
                let old = finding("app.py", before, *line, title);
                let new = finding(file, now, *line_now, title_now);
                let binding = binding(1, old.anchor.clone().expect("it has a place"));
                let is_bound = !bound([&new], &[binding], &text_of).is_empty();
                let state = ReviewState {
                    findings: vec![old],
                    ..ReviewState::default()
                };
                let is_repeated =
                    !repeated(&state, std::slice::from_ref(&new), &text_of).is_empty();
                if is_bound != *same || is_repeated != *same {
                    wrong.push(format!("{what}: {line} {title} | {line_now} {title_now}"));
                }
            }
        }
        assert!(wrong.is_empty(), "{wrong:#?}");
    }

    #[derive(serde::Deserialize)]
    struct Defects {
        code: Vec<Code>,
    }

    #[derive(serde::Deserialize)]
    struct Code {
        file: String,
        text: String,
        parallel: Vec<(u32, String, u32, String)>,
        different: Vec<(u32, String, u32, String)>,
        same: Vec<(u32, String, u32, String)>,
    }

    #[test]
    fn after_a_dismissal_another_defect_counts_and_the_same_one_is_recognised_or_asked_about() {
        let defects = include_str!("../../../../../tests/recognition/defects.toml");
        let defects: Defects = toml::from_str(defects).expect("the table is read");
        let mut swallowed = Vec::new();
        let mut forgotten = Vec::new();
        for Code {
            file,
            text,
            parallel,
            different,
            same,
        } in &defects.code
        {
            let text_of = |path: &str| {
                if path == file {
                    text.clone()
                } else {
                    String::new()
                }
            };
            let told = |(line, title, line_now, title_now): &(u32, String, u32, String)| {
                let raised = |line: u32, title: &str| {
                    let mut raised = finding(0, (0, 0, Some(line)), &[0]);
                    raised.raw.title = title.into();
                    raised.raw.file = Some(file.clone());
                    raised.anchor = Some(Blocks::of(file, text).anchor(&raised.raw));
                    raised
                };
                let binding = binding(1, raised(*line, title).anchor.expect("it has a place"));
                let state = ReviewState::default();
                let lists = lists();
                let round = Round {
                    state: &state,
                    lists: &lists,
                    text_of: &text_of,
                    past: None,
                };
                earlier([&raised(*line_now, title_now)], &[binding], &round)
            };
            for pair in parallel.iter().chain(different) {
                let is_bound = |event: &EventKind| {
                    matches!(event, EventKind::Review(ReviewEvent::AlreadyRuled { .. }))
                };
                swallowed.extend(told(pair).iter().any(is_bound).then_some(pair));
            }
            forgotten.extend(same.iter().filter(|pair| told(pair).is_empty()));
        }
        assert!(swallowed.is_empty(), "{swallowed:#?}");
        assert!(forgotten.is_empty(), "{forgotten:#?}");
    }

    #[test]
    fn of_two_findings_one_repeats_an_earlier_one() {
        let code = "def export(path):\n    handle = open(path, 'w')\n    handle.write('x')\n";
        let made = |number, line, title: &str| {
            let mut made = finding(number, (0, 0, Some(line)), &[0]);
            made.raw.title = title.into();
            made.anchor = Some(Blocks::of("a.py", code).anchor(&made.raw));
            made
        };
        let other_words = "`handle` is opened but not closed; use a with statement for the file";
        let earlier = vec![made(0, 2, "The file handle is never closed")];
        let new = [
            made(1, 2, other_words),
            made(2, 3, "The file handle is never closed"),
        ];
        let state = ReviewState {
            findings: earlier,
            ..ReviewState::default()
        };
        let text_of = |_: &str| code.to_owned();
        let again = |index| BTreeMap::from([(index, FindingId::new(1))]);
        assert_eq!(repeated(&state, &new[..1], &text_of), again(0));
        assert_eq!(repeated(&state, &new, &text_of), again(1), "the surer one");
    }

    /// Returns no text, so that no known block exists in the file and only findings of the same block are compared.
    fn no_text(_: &str) -> String {
        String::new()
    }

    fn distance(a: &Anchor, b: &Anchor) -> Option<Option<u32>> {
        (a.block == b.block).then(|| a.offset.zip(b.offset).map(|(a, b)| a.abs_diff(b)))
    }

    /// The reference algorithm: compares all pairs and binds those with the greatest likeness first.
    fn naive(findings: &[Finding], bindings: &[Binding]) -> Vec<EventKind> {
        let anchors: Vec<&Anchor> = bindings
            .iter()
            .map(|binding| &binding.anchor)
            .chain(
                findings
                    .iter()
                    .filter_map(|finding| finding.anchor.as_ref()),
            )
            .collect();
        let wordings = Wordings::of(anchors.iter().copied());
        let mut pairs = Vec::new();
        for (index, finding) in (0..).zip(anchors.iter().skip(bindings.len())) {
            for (known, binding) in bindings.iter().enumerate() {
                let distance = distance(&binding.anchor, finding);
                let likeness = distance
                    .map(|distance| wordings.compare(known, bindings.len() + index, distance))
                    .filter(|likeness| *likeness != Likeness::Different);
                pairs.extend(likeness.map(|likeness| Pair {
                    likeness,
                    known,
                    found: index,
                }));
            }
        }
        let pairs = closest_first(pairs);
        let sure = pairs.iter().filter_map(|pair| {
            let binding = &bindings[pair.known];
            Some((pair.likeness.same()?, &binding.dispute, pair.found, binding))
        });
        let mut pairs: Vec<_> = sure.collect();
        pairs.sort_by(|a, b| b.0.total_cmp(&a.0).then(b.1.cmp(a.1)).then(a.2.cmp(&b.2)));
        let mut bound = BTreeMap::new();
        let mut taken = BTreeSet::new();
        for (_, dispute, index, binding) in pairs {
            let by = &findings[index].raised_by;
            if !bound.contains_key(&index)
                && !by.iter().any(|name| taken.contains(&(dispute, name)))
            {
                bound.insert(index, binding);
                taken.extend(by.iter().map(|name| (dispute, name)));
            }
        }
        bound
            .into_iter()
            .filter_map(|(index, binding)| ruled(&findings[index], binding, &lists()))
            .collect()
    }

    fn lists() -> MergeSettings {
        MergeSettings {
            mandatory: vec!["MUST".to_owned()],
            optional: vec!["SHOULD".to_owned()],
            policy: Policy::Panel,
            older: OlderFindings::Show,
        }
    }

    type Place = (u8, usize, Option<u32>);

    fn place() -> impl Strategy<Value = Place> {
        (0..2_u8, 0..TITLES.len(), proptest::option::of(0..6_u32))
    }

    fn settled(number: u64, run: &str, day: i8, anchor: Anchor) -> Binding {
        let settled_at = jiff::civil::date(2026, 5, day)
            .to_zoned(jiff::tz::TimeZone::UTC)
            .expect("a day")
            .timestamp();
        Binding {
            run: RunId(run.into()),
            settled_at: Some(settled_at),
            ..binding(number, anchor)
        }
    }

    #[test]
    fn a_later_ruling_on_the_same_finding_supersedes_one_of_each_other_run() {
        let hash = |offset| anchor((0, 0, Some(offset)));
        let bindings = [
            settled(1, "a", 3, hash(1)),
            settled(2, "b", 1, hash(2)),
            settled(3, "b", 2, anchor((0, 1, Some(4)))),
            settled(4, "a", 4, hash(1)),
            settled(5, "c", 5, anchor((0, 3, Some(1)))),
            settled(6, "c", 5, anchor((1, 0, Some(1)))),
            Binding {
                disposition: None,
                settled_at: None,
                ..settled(7, "d", 6, hash(1))
            },
        ];
        // Binding 1 precedes binding 2 only by its number. Binding 4 belongs to the same run as 1. Bindings 5 and 6
        // are about other problems. Binding 7 is open.
        assert_eq!(superseded(&bindings), BTreeMap::from([(1, 0), (2, 3)]));
        assert_eq!(superseded(&[]), BTreeMap::new());
    }

    #[test]
    fn what_has_ended_binds_nothing_and_is_named_where_nothing_else_binds() {
        let found = [finding(0, (0, 0, Some(1)), &[0])];
        let ended = Some(jiff::civil::date(2026, 6, 1));
        let old = Binding {
            ended,
            ..binding(3, anchor((0, 0, Some(1))))
        };
        let text = "F1: the ruling of dispute 3 ended on 2026-06-01".to_owned();
        let notice = vec![EventKind::notice(text)];
        assert_eq!(told(&found, std::slice::from_ref(&old)), notice);
        let other = binding(2, anchor((0, 1, Some(2))));
        let events = told(&found, &[old.clone(), other]);
        assert!(
            matches!(&events[..], [EventKind::Review(ReviewEvent::AlreadyRuled { dispute, .. })] if *dispute == DisputeNumber(2).into())
        );
        assert_eq!(ClosingRulings::of(&[old], &no_text).in_force(&[]), []);
    }

    #[test]
    fn a_shared_ruling_closes_a_security_finding_only_where_a_person_answers_for_it() {
        let mut found = finding(0, (0, 0, Some(1)), &[0]);
        found.raw.category = Some("security".to_owned());
        let shared = Binding {
            is_vouched: false,
            ..binding(3, anchor((0, 0, Some(1))))
        };
        let said = |found: &Finding, binding: &Binding| {
            told(std::slice::from_ref(found), std::slice::from_ref(binding))
                .pop()
                .expect("an event")
        };
        assert!(
            matches!(said(&found, &shared), EventKind::Run(glee_model::domain::event::RunEvent::Notice { text }) if text.contains("does not bind"))
        );
        let vouched = Binding {
            is_vouched: true,
            ..shared.clone()
        };
        assert!(matches!(
            said(&found, &vouched),
            EventKind::Review(ReviewEvent::AlreadyRuled { .. })
        ));
        let enforced = Binding {
            disposition: Some(Disposition::Enforced),
            ..shared.clone()
        };
        assert!(matches!(
            said(&found, &enforced),
            EventKind::Review(ReviewEvent::AlreadyRuled { .. })
        ));
        found.raw.category = None;
        assert!(matches!(
            said(&found, &shared),
            EventKind::Review(ReviewEvent::AlreadyRuled { .. })
        ));
    }

    #[test]
    fn precedents_are_of_other_code_and_alike() {
        let found = finding(0, (0, 1, Some(1)), &[0]);
        let candidates = [
            settled(1, "a", 1, anchor((0, 1, Some(1)))),
            settled(2, "a", 1, anchor((1, 3, Some(1)))),
            settled(3, "a", 1, anchor((1, 1, Some(9)))),
            settled(4, "b", 2, anchor((2, 1, Some(9)))),
            Binding {
                disposition: None,
                ..settled(5, "b", 2, anchor((3, 1, Some(9))))
            },
            Binding {
                ended: Some(jiff::civil::date(2026, 6, 1)),
                ..settled(6, "b", 2, anchor((3, 1, Some(9))))
            },
            settled(
                7,
                "c",
                3,
                Anchor {
                    file: "b.py".into(),
                    ..anchor((4, 1, None))
                },
            ),
            settled(
                8,
                "c",
                3,
                Anchor {
                    file: "b.py".into(),
                    category: "style".into(),
                    ..anchor((4, 1, None))
                },
            ),
            settled(9, "c", 4, anchor((5, 2, None))),
        ];
        let shown: Vec<String> = precedents(&found, &candidates)
            .iter()
            .map(|one| one.dispute.to_string())
            .collect();
        assert_eq!(
            shown,
            ["7", "4", "3"],
            "the most similar, of equals the newest, three at most"
        );
        assert!(
            precedents(
                &Finding {
                    anchor: None,
                    ..found
                },
                &candidates
            )
            .is_empty()
        );
    }

    proptest! {
        #[test]
        fn what_binds_is_what_comparing_every_pair_finds(
            raised in proptest::collection::vec((place(), proptest::collection::vec(0..3_u8, 1..3)), 0..9),
            disputes in proptest::collection::vec(place(), 0..9),
        ) {
            let findings: Vec<Finding> =
                raised.iter().enumerate().map(|(number, (place, by))| finding(number, *place, by)).collect();
            let bindings: Vec<Binding> = (1_u64..)
                .zip(disputes)
                .map(|(number, place)| binding(number, anchor(place)))
                .collect();
            prop_assert_eq!(bound(&findings, &bindings, &no_text), naive(&findings, &bindings));
        }

        #[test]
        fn a_later_round_repeats_what_a_walk_through_all_findings_finds(
            known in proptest::collection::vec((place(), any::<bool>()), 0..9), new in place(), anchored in any::<bool>(),
        ) {
            let made = |number, place, anchored| {
                let mut made = finding(number, place, &[0]);
                made.anchor = made.anchor.filter(|_| anchored);
                made
            };
            let findings =
                known.into_iter().enumerate().map(|(number, (place, anchored))| made(number, place, anchored));
            let state = ReviewState { findings: findings.collect(), ..ReviewState::default() };
            let new = made(99, new, anchored);
            let anchors: Vec<&Anchor> = state.findings.iter().filter_map(|earlier| earlier.anchor.as_ref()).collect();
            let wordings = Wordings::of(anchors.iter().copied().chain(&new.anchor));
            let pairs = new.anchor.iter().flat_map(|new| {
                let of = |index: usize| {
                    let distance = distance(anchors[index], new)?;
                    let likeness = wordings.compare(index, anchors.len(), distance);
                    (likeness != Likeness::Different).then_some(Pair { likeness, known: index, found: 0 })
                };
                (0..anchors.len()).filter_map(of).collect::<Vec<_>>()
            });
            let is_again = closest_first(pairs.collect()).iter().any(Pair::is_same);
            let walked = is_again || state.findings.iter().any(|earlier| {
                (earlier.anchor.is_none() || new.anchor.is_none())
                    && earlier.raw.line == new.raw.line && earlier.raw.title == new.raw.title
            });
            prop_assert_eq!(repeated(&state, std::slice::from_ref(&new), &no_text).contains_key(&0), walked);
        }
    }
}
