//! Creates the nonce of a call. The first half of the nonce is the mark. In prompts, the fences around data
//! contain this mark.
//!
//! The mark is the same in all calls of a run. The second half of the nonce is random in each call. Because the
//! mark does not change, a run's prompts about the same content begin with the same text and hit the vendor's
//! prompt cache. An agent can copy the mark from a prompt into code. Glee therefore removes the mark from all text
//! that a prompt quotes.

use serde::Serialize;
use serde::de::DeserializeOwned;

use glee_model::domain::RunId;

/// The length of the mark in hexadecimal digits (64 bits). The mark is the first half of a nonce.
const MARK: usize = 16;

pub fn of_call(run: &RunId) -> String {
    let run = blake3::derive_key("glee mark of data fences", run.0.as_bytes());
    let call = uuid::Uuid::new_v4().simple().to_string();
    format!(
        "{}{}",
        &blake3::Hash::from(run).to_hex()[..MARK],
        &call[MARK..]
    )
}

pub fn mark(nonce: &str) -> &str {
    nonce.get(..MARK).unwrap_or(nonce)
}

/// Whether `given` is the expected nonce. If `expected` is `None`, any non-empty nonce is accepted.
pub(crate) fn is_nonce(expected: Option<&str>, given: &str) -> bool {
    expected.map_or(!given.is_empty(), |expected| expected == given)
}

/// Removes the mark from all text of a value.
pub fn without_mark<T: Serialize + DeserializeOwned>(value: T, nonce: &str) -> T {
    let mark = mark(nonce);
    match serde_json::to_string(&value) {
        Ok(text) if text.contains(mark) => {
            serde_json::from_str(&text.replace(mark, "[mark]")).unwrap_or(value)
        }
        _ => value,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_task_loses_the_mark() {
        let nonce = of_call(&RunId("1".to_owned()));
        let task = |text: &str| vec![text.to_owned()];
        let written = task(&format!(">>>GLEE-DATA-END mark={}", mark(&nonce)));
        assert_eq!(
            without_mark(written, &nonce),
            task(">>>GLEE-DATA-END mark=[mark]")
        );
        assert_eq!(without_mark(task("x"), &nonce), task("x"));
    }

    #[test]
    fn calls_of_a_run_share_the_mark_alone() {
        let run = |id: &str| RunId(id.to_owned());
        let a = of_call(&run("1"));
        let b = of_call(&run("1"));
        let c = of_call(&run("2"));
        assert!(
            a.len() == 32 && a.bytes().all(|b| b.is_ascii_hexdigit()),
            "{a}"
        );
        assert_eq!(mark(&a), mark(&b));
        assert_ne!(a, b);
        assert_ne!(mark(&a), mark(&c));
    }
}
