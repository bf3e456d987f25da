//! A regular expression that is compiled when it is first needed; most never are.

use std::sync::{Mutex, OnceLock, PoisonError};

use regex_automata::Input;
use regex_automata::meta::{Cache, Config, Regex};
use regex_automata::util::captures::Captures;
use regex_automata::util::iter::Searcher;
use regex_automata::util::syntax;

/// The bytes that a compiled expression takes at most.
const LARGEST: usize = 64 << 20;

/// An expression as gitleaks has it, which writes for Go.
pub(super) struct Expression {
    source: String,
    compiled: OnceLock<Option<Compiled>>,
}

/// The states that a search meets are built on the way, which takes longer than all later searches together. Therefore
/// they are lent to whoever searches next, in whatever thread.
struct Compiled {
    regex: Regex,
    idle: Mutex<Vec<Cache>>,
}

impl Expression {
    pub(super) fn new(source: String) -> Self {
        Self { source, compiled: OnceLock::new() }
    }

    /// Compiles it now. Returns whether it can be.
    pub(super) fn compile(&self) -> bool {
        self.get().is_some()
    }

    /// The number of its groups, with the whole match.
    #[cfg(test)]
    pub(super) fn groups(&self) -> usize {
        use regex_automata::PatternID;
        self.get().map_or(0, |compiled| compiled.regex.create_captures().group_info().group_len(PatternID::ZERO))
    }

    /// Whether it matches somewhere.
    pub(super) fn is_match(&self, text: &[u8]) -> bool {
        let input = Input::new(text).earliest(true);
        let search = |regex: &Regex, cache: &mut Cache| regex.search_half_with(cache, &input).is_some();
        self.get().is_some_and(|compiled| compiled.lend(search))
    }

    /// What `pick` makes of the matches, from the first to the last.
    pub(super) fn picked<T>(&self, text: &[u8], mut pick: impl FnMut(&Captures) -> Option<T>) -> Vec<T> {
        let mut picked = Vec::new();
        if let Some(compiled) = self.get() {
            compiled.lend(|regex, cache| {
                let search = |input: &Input<'_>, captures: &mut Captures| {
                    regex.search_captures_with(cache, input, captures);
                    Ok(())
                };
                let found = Searcher::new(Input::new(text)).into_captures_iter(regex.create_captures(), search);
                picked.extend(found.infallible().filter_map(|captures| pick(&captures)));
            });
        }
        picked
    }

    fn get(&self) -> Option<&Compiled> {
        self.compiled.get_or_init(|| Compiled::of(&self.source)).as_ref()
    }
}

impl Compiled {
    /// Without Unicode classes it is compiled in a fraction of the time, and the secrets are ASCII.
    fn of(source: &str) -> Option<Self> {
        let regex = Regex::builder()
            .configure(Config::new().utf8_empty(false).nfa_size_limit(Some(LARGEST)))
            .syntax(syntax::Config::new().unicode(false).utf8(false))
            .build(&escape_braces(source))
            .ok()?;
        Some(Self { regex, idle: Mutex::default() })
    }

    fn lend<T>(&self, search: impl FnOnce(&Regex, &mut Cache) -> T) -> T {
        let idle = || self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        let lent = idle().pop();
        let mut cache = lent.unwrap_or_else(|| self.regex.create_cache());
        let found = search(&self.regex, &mut cache);
        idle().push(cache);
        found
    }
}

/// Escapes braces that begin no repetition: Go takes them as they stand.
fn escape_braces(source: &str) -> String {
    let mut escaped = String::with_capacity(source.len());
    let mut after_backslash = false;
    for (at, letter) in source.char_indices() {
        if letter == '{' && !after_backslash {
            let counts = source[at + 1..].split_once('}').map_or("", |(counts, _)| counts);
            if counts.is_empty() || !counts.chars().all(|c| c.is_ascii_digit() || c == ',') {
                escaped.push('\\');
            }
        }
        after_backslash = letter == '\\' && !after_backslash;
        escaped.push(letter);
    }
    escaped
}
