//! Measures precision and recall of the rules on labelled code, in total and for each defect class.
//!
//! A folder contains samples and the file `labels.jsonl`. Each line of this file is an object for one sample,
//! `{"file", "labels": [{"line", "category", "also"}]}`. A finding is correct if a label of the same class is at
//! most two lines away from the finding. The key `also` lists further lines. A finding about the defect is also
//! correct if the finding is on one of the lines in `also`.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::catalog::{Catalog, CatalogError};
use super::scan::{Hit, folded};
use glee_model::domain::Advice;

const LABELS: &str = "labels.jsonl";

/// The maximum distance between a finding and its label, in lines.
const NEAR: u32 = 2;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Score {
    pub true_positives: u32,
    pub false_positives: u32,
    pub false_negatives: u32,
}

impl Score {
    /// Returns `None` if there are no findings.
    pub fn precision(self) -> Option<f64> {
        share(self.true_positives, self.false_positives)
    }

    /// Returns `None` if there are no labels.
    pub fn recall(self) -> Option<f64> {
        share(self.true_positives, self.false_negatives)
    }
}

fn share(part: u32, rest: u32) -> Option<f64> {
    (part + rest > 0).then(|| f64::from(part) / f64::from(part + rest))
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Miss {
    pub file: String,
    pub line: u32,
    pub category: String,
    /// The rule of the finding, if the miss is a finding without a matching label. The field `rule` is `None` if
    /// the miss is a label that matches no finding.
    pub rule: Option<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Measure {
    pub files: usize,
    pub labels: usize,
    pub total: Score,
    pub categories: BTreeMap<String, Score>,
    pub misses: Vec<Miss>,
}

#[derive(Debug, thiserror::Error)]
pub enum MeasureError {
    #[error("failed to read `{file}`")]
    Unreadable {
        file: String,
        #[source]
        source: std::io::Error,
    },
    #[error("invalid line {line} of `{LABELS}`")]
    Label {
        line: usize,
        #[source]
        source: serde_json::Error,
    },
    #[error("`{LABELS}` lists no file")]
    Empty,
    #[error(transparent)]
    Rules(#[from] CatalogError),
}

impl Advice for MeasureError {
    fn hint(&self) -> Option<String> {
        match self {
            Self::Rules(error) => error.hint(),
            _ => Some("`glee rules test --help` describes the folder of labelled files".to_owned()),
        }
    }
}

#[derive(Deserialize)]
struct Sample {
    file: String,
    labels: Vec<Label>,
}

#[derive(Deserialize)]
struct Label {
    line: u32,
    category: String,
    #[serde(default)]
    also: Vec<u32>,
}

impl Label {
    fn covers(&self, hit: &Hit) -> bool {
        let first = hit.lines.0.saturating_sub(NEAR);
        let last = hit.lines.1.saturating_add(NEAR);
        hit.category == self.category
            && std::iter::once(&self.line)
                .chain(&self.also)
                .any(|line| (first..=last).contains(line))
    }
}

pub fn measure(folder: &Path) -> Result<Measure, MeasureError> {
    let catalog = Catalog::packaged()?;
    let known: BTreeSet<&str> = catalog
        .infos()
        .filter_map(|info| info.category.as_deref())
        .collect();
    let mut measure = Measure::default();
    for (text, line) in read(folder, LABELS)?
        .lines()
        .zip(1..)
        .filter(|(text, _)| !text.trim().is_empty())
    {
        let sample: Sample =
            serde_json::from_str(text).map_err(|source| MeasureError::Label { line, source })?;
        measure.files += 1;
        measure.labels += sample.labels.len();
        judge(
            &catalog,
            &known,
            &sample,
            &read(folder, &sample.file)?,
            &mut measure,
        );
    }
    if measure.files == 0 {
        return Err(MeasureError::Empty);
    }
    for score in measure.categories.values() {
        measure.total.true_positives += score.true_positives;
        measure.total.false_positives += score.false_positives;
        measure.total.false_negatives += score.false_negatives;
    }
    Ok(measure)
}

fn read(folder: &Path, file: &str) -> Result<String, MeasureError> {
    std::fs::read_to_string(folder.join(file)).map_err(|source| MeasureError::Unreadable {
        file: file.to_owned(),
        source,
    })
}

/// A label with at least one matching finding is one true positive. A finding that matches no label is a false
/// positive.
fn judge(
    catalog: &Catalog,
    known: &BTreeSet<&str>,
    sample: &Sample,
    text: &str,
    measure: &mut Measure,
) {
    let hits = folded(catalog.scan(&sample.file, text, None).hits);
    for label in &sample.labels {
        let score = measure
            .categories
            .entry(label.category.clone())
            .or_default();
        if hits.iter().any(|hit| label.covers(hit)) {
            score.true_positives += 1;
        } else {
            score.false_negatives += 1;
            let file = sample.file.clone();
            let category = label.category.clone();
            measure.misses.push(Miss {
                file,
                line: label.line,
                category,
                rule: None,
            });
        }
    }
    for hit in hits
        .iter()
        .filter(|hit| known.contains(hit.category.as_str()))
    {
        if !sample.labels.iter().any(|label| label.covers(hit)) {
            measure
                .categories
                .entry(hit.category.clone())
                .or_default()
                .false_positives += 1;
            let file = sample.file.clone();
            let category = hit.category.clone();
            measure.misses.push(Miss {
                file,
                line: hit.lines.0,
                category,
                rule: Some(hit.rule.clone()),
            });
        }
    }
}
