//! Finds recorded answers for the files of a review.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::archive::{Archive, KnownAnswer, LARGE, RecordedAt, SMALL, ShownFile, has_same_places};
use super::origins::Origins;
use glee_model::domain::event::{EventKind, ReviewEvent};
use glee_model::domain::{
    Agent, AskedFile, FileReview, HashedRead, RawFinding, Reuse, ReusedFrom, ReviewedFiles, RunId,
};
use glee_protocol::request::SourceFile;
use glee_store::history::JournalError;
use glee_workspace::diff::delta::Delta;
use glee_workspace::select::read_hashes::ReadHashes;

pub(super) struct Finder<'a> {
    archive: &'a Archive<'a>,
    asker: &'a str,
    /// The records that were read; `None` for one that is damaged or no longer holds.
    records: HashMap<RecordedAt, Option<ReviewedFiles>>,
    sound: HashMap<RunId, bool>,
    hashes: ReadHashes<'a>,
}

fn of_run<'r>(reuse: &'r mut Reuse, run: &RunId) -> &'r mut ReusedFrom {
    let at = reuse
        .from
        .iter()
        .position(|from| from.run == *run)
        .unwrap_or(reuse.from.len());
    if at == reuse.from.len() {
        reuse.from.push(ReusedFrom {
            run: run.clone(),
            ..ReusedFrom::default()
        });
    }
    &mut reuse.from[at]
}

/// The number of lines under review.
fn under_review(file: &SourceFile) -> u64 {
    match file.changed.as_slice() {
        [] => file.text.lines().count() as u64,
        ranges => ranges
            .iter()
            .map(|(first, last)| u64::from(last - first) + 1)
            .sum(),
    }
}

/// Whether two lists of line ranges share a line. An empty list stands for all lines.
fn overlap(a: &[(u32, u32)], b: &[(u32, u32)]) -> bool {
    a.is_empty()
        || b.is_empty()
        || a.iter()
            .any(|(first, last)| b.iter().any(|(from, to)| first <= to && from <= last))
}

impl<'a> Finder<'a> {
    pub(super) fn new(archive: &'a Archive<'a>, asker: &'a str) -> Self {
        Self {
            archive,
            asker,
            records: HashMap::new(),
            sound: HashMap::new(),
            hashes: ReadHashes::now(archive.workspace.root()),
        }
    }

    pub(super) fn shards(
        &mut self,
        agent: &Agent,
        shown: &[Vec<ShownFile>],
        whole: &BTreeMap<String, String>,
        origins: &mut Origins<'_>,
    ) -> Result<Vec<(u32, Reuse)>, JournalError> {
        let mut known: Vec<Vec<KnownAnswer>> = Vec::new();
        for shard in shown {
            let found = shard.iter().map(|file| {
                let is_part = whole.contains_key(&file.file.path);
                self.known(file, !agent.is_embedded(), is_part)
            });
            known.push(found.collect::<Result<_, _>>()?);
        }
        // An earlier answer can contain a finding about a file of another request. Glee reuses such an answer
        // only if all files of the answer are unchanged.
        let keys: BTreeSet<&str> = shown
            .iter()
            .flatten()
            .map(|file| file.key.as_str())
            .collect();
        let mut current: BTreeMap<&str, &str> = shown
            .iter()
            .flatten()
            .map(|shown| (shown.file.path.as_str(), shown.key.as_str()))
            .collect();
        current.extend(
            whole
                .iter()
                .map(|(path, key)| (path.as_str(), key.as_str())),
        );
        for known in known.iter_mut().flatten() {
            let (KnownAnswer::Same { place, review } | KnownAnswer::Part { place, review, .. }) =
                known
            else {
                continue;
            };
            let record = self.record(place);
            let is_whole = record.is_some_and(|record| {
                record.others.is_empty()
                    || record
                        .files
                        .iter()
                        .all(|review| keys.contains(review.key.as_str()))
            });
            if !is_whole || record.is_some_and(|record| !has_same_places(record, review, &current))
            {
                *known = KnownAnswer::Nothing;
            }
        }
        self.narrow(shown, &mut known);
        let mut added: BTreeSet<RecordedAt> = BTreeSet::new();
        let mut reuses = Vec::new();
        for (at, (shown, known)) in (0..).zip(shown.iter().zip(known)) {
            let mut reuse = Reuse::default();
            let mut origin =
                |run: &RunId, finding: &RawFinding| origins.of(run, &agent.name, finding);
            for (shown, known) in shown.iter().zip(known) {
                let file = shown.file.path.clone();
                let place = match known {
                    KnownAnswer::Nothing => {
                        reuse.asked.push(AskedFile {
                            file,
                            ranges: Vec::new(),
                            shown: Vec::new(),
                        });
                        continue;
                    }
                    KnownAnswer::Same { place, review } => {
                        of_run(&mut reuse, &place.0).files.push(file);
                        reuse.origins.extend(
                            review
                                .findings
                                .iter()
                                .map(|finding| origin(&place.0, finding)),
                        );
                        reuse.findings.extend(review.findings);
                        place
                    }
                    KnownAnswer::Part {
                        place,
                        review,
                        delta,
                    } => {
                        of_run(&mut reuse, &place.0).in_part.push(file.clone());
                        let record = self.record(&place);
                        for set in record
                            .into_iter()
                            .flat_map(|record| &record.reads)
                            .flatten()
                        {
                            if !reuse.reads.contains(set) {
                                reuse.reads.push(set.clone());
                            }
                        }
                        for finding in review
                            .findings
                            .into_iter()
                            .filter(|finding| !delta.has_left(finding))
                        {
                            match delta.carried(&finding) {
                                Some(carried) => {
                                    reuse.origins.push(origin(&place.0, &finding));
                                    reuse.findings.push(carried);
                                }
                                None => reuse.superseded.push(delta.last_place(&finding)),
                            }
                        }
                        if !delta.ask.is_empty() {
                            reuse.asked.push(AskedFile {
                                file,
                                ranges: delta.ask,
                                shown: delta.shown,
                            });
                        }
                        place
                    }
                };
                let Some(record) = self.record(&place) else {
                    continue;
                };
                of_run(&mut reuse, &place.0).reads_unknown |= record.reads.is_none();
                if added.insert(place.clone()) {
                    reuse.origins.extend(
                        record
                            .others
                            .iter()
                            .map(|finding| origin(&place.0, finding)),
                    );
                    reuse.findings.extend(record.others.iter().cloned());
                }
            }
            if !reuse.from.is_empty() {
                reuse.from.sort_by(|a, b| a.run.cmp(&b.run));
                reuses.push((at, reuse));
            }
        }
        Ok(reuses)
    }

    /// Reduces the context around changed lines if the shown lines exceed the limit `SMALL`.
    fn narrow(&self, shown: &[Vec<ShownFile>], known: &mut [Vec<KnownAnswer>]) {
        let all = shown.iter().flatten().map(|ShownFile { file, .. }| file);
        let whole: usize = all
            .map(|file| file.text.len() + file.diff.as_ref().map_or(0, String::len))
            .sum();
        let small = (whole / 100 * SMALL.0).max(SMALL.1);
        let files: Vec<&SourceFile> = shown.iter().flatten().map(|shown| &shown.file).collect();
        let parts: Vec<usize> = known
            .iter()
            .flatten()
            .enumerate()
            .filter(|(_, known)| matches!(known, KnownAnswer::Part { .. }))
            .map(|(at, _)| at)
            .collect();
        let mut chosen = None;
        for extent in 0..Delta::LEVELS {
            let answered = shown.iter().flatten().zip(known.iter().flatten());
            let deltas = answered.filter_map(|(shown, known)| {
                let KnownAnswer::Part { place, review, .. } = known else {
                    return None;
                };
                Delta::since(review, &self.record(place)?.salt, &shown.file, extent)
            });
            let deltas: Vec<Delta> = deltas.collect();
            let sizes = deltas.iter().zip(&parts);
            let size: usize = sizes.map(|(delta, at)| delta.shown_bytes(files[*at])).sum();
            let is_last = extent + 1 == Delta::LEVELS;
            if size <= small || is_last && size <= whole / 100 * LARGE {
                chosen = Some(deltas);
                break;
            }
        }
        let parts = known.iter_mut().flatten().filter_map(|known| match known {
            KnownAnswer::Part { delta, .. } => Some(delta),
            KnownAnswer::Nothing | KnownAnswer::Same { .. } => None,
        });
        for (delta, narrower) in parts.zip(chosen.into_iter().flatten()) {
            *delta = narrower;
        }
    }

    /// Finds an earlier review of the same content. If no earlier review has the same content, finds the review
    /// that leaves the fewest lines to be reviewed again.
    fn known(
        &mut self,
        shown: &ShownFile,
        compares: bool,
        is_part: bool,
    ) -> Result<KnownAnswer, JournalError> {
        let path = shown.file.path.as_str();
        let places = self
            .archive
            .journal
            .reviewed((self.asker, path, &shown.key), self.archive.now)?;
        let mut best: Option<(u32, KnownAnswer)> = None;
        for place in places {
            if !self.is_sound(&place.0)? {
                continue;
            }
            self.load(&place)?;
            let Some(record) = self.record(&place) else {
                continue;
            };
            if let Some(review) = record
                .files
                .iter()
                .find(|review| review.key == shown.key && review.file == path)
            {
                return Ok(KnownAnswer::Same {
                    place,
                    review: review.clone(),
                });
            }
            // An answer about another part of the file knows nothing about this part.
            let is_comparable =
                |review: &FileReview| !is_part || overlap(&review.ranges, &shown.file.changed);
            let review = record.files.iter().find(|review| {
                review.file == path && review.frame == shown.frame && is_comparable(review)
            });
            let Some(review) = review.filter(|_| compares && shown.is_comparable) else {
                continue;
            };
            let Some(delta) = Delta::since(review, &record.salt, &shown.file, 0) else {
                continue;
            };
            // A finding about a whole file cannot be reused after the file has changed.
            if !review
                .findings
                .iter()
                .all(|finding| delta.had_lines(finding))
            {
                continue;
            }
            let lines = delta.ask.iter().map(|(first, last)| last - first + 1).sum();
            if best.as_ref().is_none_or(|(fewest, _)| lines < *fewest) {
                best = Some((
                    lines,
                    KnownAnswer::Part {
                        place: place.clone(),
                        review: review.clone(),
                        delta,
                    },
                ));
            }
            // The search ends when a new review is necessary for at most 20% of the lines under review.
            if u64::from(lines) * 5 <= under_review(&shown.file) {
                break;
            }
        }
        Ok(best.map_or(KnownAnswer::Nothing, |(_, known)| known))
    }

    fn is_sound(&mut self, run: &RunId) -> Result<bool, JournalError> {
        if let Some(known) = self.sound.get(run) {
            return Ok(*known);
        }
        let is_sound = self.archive.journal.is_sound(run)?;
        self.sound.insert(run.clone(), is_sound);
        Ok(is_sound)
    }

    /// Whether everything is unchanged that an answer rests on beside the files that were sent.
    fn is_current(&self, record: &ReviewedFiles) -> bool {
        let sets = record.reads.iter().flatten();
        let mut reads =
            sets.flat_map(|set| set.reads.iter().map(|read| (read, set.sent.as_slice())));
        reads.all(|(HashedRead { read, hash }, sent)| {
            self.hashes.of(read, sent).as_ref() == Some(hash)
        })
    }

    fn record(&self, place: &RecordedAt) -> Option<&ReviewedFiles> {
        self.records.get(place)?.as_ref()
    }

    fn load(&mut self, place: &RecordedAt) -> Result<(), JournalError> {
        if !self.records.contains_key(place) {
            let event = self.archive.journal.event(&place.0, place.1)?;
            let record = event.and_then(|event| match event.kind {
                // A damaged database index can return a wrong event, so the reviewer's key in the event is
                // checked.
                EventKind::Review(ReviewEvent::FilesReviewed { review, .. })
                    if review.asker == self.asker =>
                {
                    Some(*review)
                }
                _ => None,
            });
            let current = record.filter(|record| self.is_current(record));
            self.records.insert(place.clone(), current);
        }
        Ok(())
    }
}
