//! Agents that inspect Glee's process for variables that are missing in their own environment.

use crate::agent::Step;
use crate::runner::Cases;
use crate::scene::{DONE, Kind, REVIEW, RULING, Scene, emit, fix};

const SECRET: &str = "ghs_do_not_show_this_anywhere";

pub(crate) fn add(cases: &mut Cases) {
    const ROW: &str = "attack: Glee's process inspected";
    for (agent, task, answer) in [
        ("rev", "review", REVIEW),
        ("fix", "respond", DONE),
        ("jud", "judge", RULING),
    ] {
        for sandbox in ["auto", "required"] {
            for deed in ["at once", "in a child of its own session", "from a tool"] {
                cases.add(
                    ROW,
                    format!("{agent} {deed}, sandbox {sandbox}"),
                    move || {
                        let mut scene = if agent == "fix" {
                            Scene::fixing(Kind::Git)
                        } else {
                            Scene::new(Kind::Git)
                        };
                        scene
                            .env("GLEE_SANDBOX", sandbox)
                            .env("GITHUB_TOKEN", SECRET);
                        let seen = scene.cache().join("inspected");
                        let look = Step::Inspect(
                            SECRET.chars().rev().collect(),
                            seen.display().to_string(),
                        );
                        let steps = match deed {
                            "at once" => vec![look],
                            "from a tool" => vec![Step::Fork(vec![look]), Step::Sleep(700)],
                            _ => vec![Step::Fork(vec![Step::Setsid, look]), Step::Sleep(700)],
                        };
                        let work = if agent == "fix" {
                            vec![fix()]
                        } else {
                            Vec::new()
                        };
                        scene.play(
                            agent,
                            task,
                            steps.into_iter().chain(work).chain([emit(answer)]),
                        );
                        let output = scene.arbitrate();
                        assert_eq!(output.code, 0, "{output}");
                        let found = std::fs::read_to_string(&seen).expect("the agent wrote a file");
                        assert_eq!(found, "", "{output}");
                    },
                );
            }
        }
    }
}
