//! The key `s`, which skips an agent: Glee ends the running calls of the agent, and the run continues without the
//! answers of these calls. If several agents are at work, the user selects one with a digit.

use std::sync::{Arc, Mutex};

use super::work::Work;
use crate::cli::ui::terminal::held;
use glee_model::domain::AgentName;
use glee_protocol::text::printable;

#[derive(Debug)]
pub(crate) struct SkipKey {
    work: Arc<Mutex<Work>>,
    /// The agents that the user can choose now.
    choices: Vec<AgentName>,
}

impl SkipKey {
    pub(crate) fn new(work: Arc<Mutex<Work>>) -> Self {
        Self {
            work,
            choices: Vec::new(),
        }
    }

    /// Handles a pressed key. If the user must choose one of several agents, returns a line that asks for the
    /// choice.
    pub(crate) fn press(&mut self, key: char) -> Option<String> {
        let work = held(&self.work);
        let choices = std::mem::take(&mut self.choices);
        if let Some(digit) = key
            .to_digit(10)
            .and_then(|digit| usize::try_from(digit).ok())
        {
            choices
                .get(digit.wrapping_sub(1))
                .into_iter()
                .for_each(|name| work.skip(name));
        } else if key == 's' {
            let at_work: Vec<AgentName> = work.at_work().take(9).cloned().collect();
            match at_work.as_slice() {
                [] => {}
                [name] => work.skip(name),
                several => {
                    let items: Vec<String> = several
                        .iter()
                        .enumerate()
                        .map(|(index, name)| format!("{} {}", index + 1, printable::line(&name.0)))
                        .collect();
                    self.choices = at_work.clone();
                    return Some(format!(
                        "  Skip which agent? {}   (another key: none)",
                        items.join("   ")
                    ));
                }
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::style::fixture::call;
    use glee_agents::Stop;
    use glee_model::domain::event::Purpose;

    #[test]
    fn the_only_agent_is_skipped_at_once_and_one_of_several_by_its_digit() {
        let (_run, stop) = Stop::new();
        let work = Arc::new(Mutex::new(Work::default()));
        let mut key = SkipKey::new(Arc::clone(&work));
        let begin = |agent: &str, shard| {
            let (handle, stop) = stop.of_call();
            let call = call(agent, Purpose::Review { round: 1, shard });
            held(&work).skippable(&call, handle);
            held(&work).begin(&call, "reviewing".to_owned());
            stop
        };
        assert_eq!(key.press('s'), None);
        let slow = begin("slow", 0);
        assert_eq!((key.press('1'), key.press('x')), (None, None));
        assert!(!slow.is_skipped(), "a digit alone does nothing");
        let first = begin("hung", 0);
        let second = begin("hung", 1);
        let question = Some("  Skip which agent? 1 hung   2 slow   (another key: none)".to_owned());
        for other in ['x', '3', '0', 's'] {
            assert_eq!(key.press('s'), question);
            key.press(other);
        }
        assert!(!slow.is_skipped() && !first.is_skipped());
        assert_eq!(key.press('s'), question);
        assert_eq!(key.press('1'), None);
        assert!(first.is_skipped() && second.is_skipped() && !slow.is_skipped());
        held(&work).skip(&"slow".into());
        assert!(slow.is_skipped());
    }
}
