//! Finds the place in the code that a finding means: the file behind a written path, and the line behind quoted code.

use std::collections::HashMap;

use crate::review::findings::round::RoundContext;
use glee_model::domain::{Location, RawFinding};
use glee_model::rules::consensus::Member;
use glee_protocol::request::SourceFile;
use glee_protocol::text::location;
use glee_workspace::code::citation;

/// The files to which the paths in an answer refer.
pub(super) type KnownPaths = HashMap<String, Option<String>>;

impl RoundContext<'_> {
    /// Whether a mandatory finding names a file or a line that does not exist.
    pub(crate) fn is_misplaced(&self, member: &Member) -> bool {
        let has_place = member.raw.file.is_none() || member.anchor.is_some();
        !has_place && self.lists.is_mandatory(&member.raw.severity)
    }

    pub(super) fn has_line(&self, place: &Location) -> bool {
        // The lines of a finding about a deleted file are those before the change, of which not all are known.
        let file = self.sources.file(self.round, &place.file);
        if file.is_some_and(SourceFile::is_deleted) {
            return true;
        }
        let lines = self.text(&place.file).lines().count().max(1);
        place
            .line
            .is_none_or(|line| (1..=lines).contains(&(line as usize)))
    }

    /// The only place of the code that a finding quotes: in the file that it names, or else in the files under review.
    pub(super) fn quoted(&self, raw: &RawFinding, place: &Location) -> Option<Location> {
        let named = self.known_path(&place.file);
        let paths = named.map_or_else(|| self.paths(), |path| vec![path]);
        let texts: Vec<(String, String)> = paths
            .into_iter()
            .map(|path| (path.clone(), self.text(&path)))
            .collect();
        let (path, line) = citation::quoted_place(raw, &texts)?;
        Some(Location::line(path, line))
    }

    /// Replaces the path of a place by the path of the file to which the place refers. Returns `false` if no file or
    /// several files match.
    pub(super) fn resolve(&self, place: &mut Location, known: &mut KnownPaths) -> bool {
        if place.line.is_none()
            && let Some((path, line, end_line)) = location::split(&place.file)
            && let Some(file) = self.looked_up(path, known)
        {
            *place = Location {
                file,
                line: Some(line),
                end_line,
            };
            return true;
        }
        match self.looked_up(&place.file, known) {
            Some(file) => {
                place.file = file;
                true
            }
            None => false,
        }
    }

    /// Returns the path of the file to which `path` refers. If `path` is only a file name, `path` refers to the
    /// only reviewed file with this name. Returns `None` if no file or several files match.
    fn known_path(&self, path: &str) -> Option<String> {
        let path = path.trim().trim_matches(['`', '"', '\'']);
        let plain = path.strip_prefix("./").unwrap_or(path);
        if self.sources.file(self.round, plain).is_some() {
            return Some(plain.to_owned());
        }
        self.workspace.resolve(path).or_else(|| {
            let paths = self.paths();
            let mut named = paths
                .iter()
                .filter(|known| known.rsplit('/').next() == Some(plain));
            named.next().filter(|_| named.next().is_none()).cloned()
        })
    }

    fn looked_up(&self, path: &str, known: &mut KnownPaths) -> Option<String> {
        if !known.contains_key(path) {
            known.insert(path.to_owned(), self.known_path(path));
        }
        known[path].clone()
    }
}

/// A finding at line 0 of a file, which is no line, so that the place is still in its title.
pub(super) fn at_line_zero(raw: &RawFinding) -> Option<RawFinding> {
    let (place, title) = raw.title.as_written().split_once(' ')?;
    let path = place.trim_end_matches(':').strip_suffix(":0")?;
    let is_place = raw.file.is_none() && path.contains(['.', '/']);
    is_place.then(|| RawFinding {
        file: Some(path.to_owned()),
        title: title.trim().into(),
        ..raw.clone()
    })
}
