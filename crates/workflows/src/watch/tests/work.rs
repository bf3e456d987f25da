//! Tests watches with agents that answer a prompt.

use super::*;
use glee_protocol::calls::work::WorkCall;

/// Returns a scene with an agent that answers a prompt.
fn workshop(task: &str) -> Scene {
    let mut scene = Scene::new();
    scene.settings.agents.push(Agent {
        role: Role::Coder,
        ..samples::agent("claude", "json", &["claude"])
    });
    scene.settings.watch.agents = vec!["claude".to_owned()];
    scene.jobs = vec![Job {
        agent: "claude".into(),
        task: task.to_owned(),
    }];
    scene
}

#[tokio::test(start_paused = true)]
async fn an_agent_that_answers_a_prompt_is_asked_once_and_its_answer_is_its_milestone() {
    let worker = |request: &Request| {
        let Task::Work(WorkCall { task }) = &request.task else {
            unreachable!()
        };
        let end = format!("GLEE-WORK-END nonce={} answers=1", request.nonce);
        Script::prints(format!("{task}: scrypt it is\n{end}\n")).after(Duration::from_secs(9))
    };
    let work = || both("approved", "approved").on("claude", "work", worker);
    let mut scene = workshop("hash it");
    scene
        .watch(work(), true, async |_| sleep(3 * SECOND).await)
        .await;
    // The interrupted agent is asked again. After the answer, the agent is not asked again.
    for asked in [1, 0] {
        let (standing, _, runner) = scene
            .watch(work(), false, async |table| {
                sleep(Duration::from_secs(20)).await;
                assert!(asked == 0 || table.cycles()[0].1 == only(Trigger::Milestone));
                table.order("status").await
            })
            .await;
        let works = runner
            .seen()
            .iter()
            .filter(|seen| seen.request.task.kind() == "work")
            .count();
        assert_eq!(works, asked);
        assert_eq!(
            (standing.cycle, standing.agents[0].events),
            (1, 2),
            "a milestone and its end"
        );
        let summary = &standing.agents[0].last.as_ref().unwrap().summary;
        assert_eq!(*summary, *"hash it: scrypt it is");
    }
    scene.jobs[0].task = "salt it".to_owned();
    let (_, _, runner) = scene
        .watch(work(), false, async |_| {
            sleep(Duration::from_secs(20)).await
        })
        .await;
    assert!(
        runner
            .seen()
            .iter()
            .any(|seen| seen.request.task.kind() == "work"),
        "another task is another work"
    );
}

#[tokio::test(start_paused = true)]
async fn spec_26_what_was_told_before_a_kill_is_reviewed_when_the_watch_is_started_again() {
    let scene = Scene::new();
    let told = async |table: Table| drop(table.tell("milestone", "claude").await);
    scene.watch(both("approved", "approved"), true, told).await;
    for cycles in [1, 0] {
        let (table, ..) = scene
            .watch(both("approved", "approved"), false, async |table| {
                sleep(5 * SECOND).await;
                table
            })
            .await;
        assert_eq!(table.cycles().len(), cycles);
    }
}

#[tokio::test(start_paused = true)]
async fn an_agent_that_fails_is_stuck() {
    let scene = workshop("hash it");
    let runner = both("approved", "approved").on("claude", "work", |_| Script::fails(3, "no key"));
    let (table, _) = scene
        .play(runner, async |table| {
            sleep(5 * SECOND).await;
            table
        })
        .await;
    assert_eq!(table.cycles()[0].1, only(Trigger::Blocker));

    // An agent whose call exceeds the budget also reports a blocker.
    let mut scene = workshop("hash it");
    scene.settings.budget.calls = Some(0);
    let runner = both("approved", "approved").on("claude", "work", |_| Script::prints("done"));
    let (standing, _) = scene
        .play(runner, async |table| {
            sleep(5 * SECOND).await;
            table.order("status").await
        })
        .await;
    let last = standing.agents[0].last.as_ref().unwrap();
    assert!(last.summary.as_written().contains("used up"), "{last:?}");
}

#[test]
fn a_plan_without_a_task_or_with_one_for_nobody_is_none() {
    let workspace = |scene: &Scene| Workspace::discover(&scene.folder.path().join("tree")).unwrap();
    let of =
        |scene: &Scene| plan(&scene.settings, &workspace(scene), scene.jobs.clone()).unwrap_err();
    let mut scene = workshop("hash it");
    scene.jobs.clear();
    assert!(
        matches!(of(&scene), crate::watch::plan::WatchPlanError::NoTask { name, .. } if name == "claude")
    );
    let mut scene = workshop("hash it");
    scene.settings.watch.agents.clear();
    assert!(
        matches!(of(&scene), crate::watch::plan::WatchPlanError::IdleTask { name } if name == "claude")
    );
    let mut scene = workshop("hash it");
    scene.settings.agents[2].role = Role::Judge;
    assert!(
        matches!(of(&scene), crate::watch::plan::WatchPlanError::NotCoder { name } if name == "claude")
    );
}
