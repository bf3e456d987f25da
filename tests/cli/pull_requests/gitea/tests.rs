//! What only Gitea and Forgejo do.

use rstest::rstest;
use serde_json::json;

use super::people::IS_ADMIN;
use super::store::{FAILS_AFTER, draft, drafts, review};
use super::{FORGEJO, GITEA, Gitea, OLD_GITEA, other};
use crate::pull_requests::double::BOT;
use crate::pull_requests::scene::Scene;
use crate::pull_requests::{SAFE, step};

fn publish(scene: &Scene) {
    let output = scene.publish();
    assert_eq!(output.code, 0, "{output}");
}

/// A scene after the first push, with a comment on `a.py` and one on `b.py`.
fn published(host: &'static Gitea) -> Scene {
    let scene = Scene::new(host);
    step(&scene, 1);
    publish(&scene);
    scene
}

#[rstest]
#[case::gitea("gitea", true)]
#[case::old_gitea("old_gitea", false)]
#[case::forgejo("forgejo", false)]
fn the_conversation_is_that_on_github(#[case] name: &str, #[case] can_resolve: bool) {
    let snapshot = |name: &str| {
        let path = format!(
            "tests/cli/pull_requests/snapshots/cli__pull_requests__twelve_pushes_{name}.snap"
        );
        let text = std::fs::read_to_string(path).expect("a snapshot");
        text.split_once("\n---\n").expect("a header").1.to_owned()
    };
    let on_github = snapshot("github");
    // Only Gitea 1.26 and newer can resolve threads.
    let expected = if can_resolve {
        on_github
    } else {
        on_github.replace(".py resolved\n", ".py open\n")
    };
    assert_eq!(snapshot(name), expected);
}

#[rstest]
#[case::gitea(&GITEA)]
#[case::forgejo(&FORGEJO)]
fn drafts_of_the_token_s_user_are_not_submitted(#[case] host: &'static Gitea) {
    let scene = Scene::new(host);
    step(&scene, 1);
    draft(
        &mut scene.double.state(),
        BOT,
        "a.py",
        1,
        "a thought that is not finished",
    );
    draft(
        &mut scene.double.state(),
        "stranger",
        "a.py",
        1,
        "a draft of another user",
    );
    let refused = scene.publish();
    assert_eq!(refused.code, 2, "{refused}");
    assert!(
        refused
            .stderr
            .contains("accepts no comments, because the user of the token has a pending review"),
        "{refused}"
    );
    assert!(
        refused
            .stderr
            .contains("hint: submit or discard your review on the page of the pull request"),
        "{refused}"
    );
    let mut state = scene.double.state();
    assert_eq!(
        (
            drafts(&mut state),
            state.threads.len(),
            state.comments.len()
        ),
        (2, 0, 0)
    );
}

#[rstest]
#[case::gitea(&GITEA)]
#[case::old_gitea(&OLD_GITEA)]
fn a_server_that_fails_within_a_review_causes_no_doubles(#[case] host: &'static Gitea) {
    let undisturbed = published(host);
    let scene = Scene::new(host);
    step(&scene, 1);
    other(&mut scene.double.state(), FAILS_AFTER, json!(1));
    let failed = scene.publish();
    assert_eq!(failed.code, 4, "{failed}");
    assert!(failed.stderr.contains("possibly processed"), "{failed}");
    {
        let mut state = scene.double.state();
        assert_eq!((drafts(&mut state), state.threads.len()), (1, 0));
    }
    publish(&scene);
    assert_eq!(drafts(&mut scene.double.state()), 0);
    assert_eq!(scene.conversation(), undisturbed.conversation());
}

/// Only an administrator of the repository can read who can write.
#[rstest]
#[case::gitea(&GITEA)]
#[case::forgejo(&FORGEJO)]
fn without_an_administrator_members_object_and_the_owner_rules(#[case] host: &'static Gitea) {
    let scene = published(host);
    other(&mut scene.double.state(), IS_ADMIN, json!(false));
    {
        let mut state = scene.double.state();
        state
            .maintainers
            .extend(["writer", "team"].map(str::to_owned));
        state.reply("a.py", "stranger", "NONE", "@glee dismiss nobody cares");
        state.reply("a.py", "", "NONE", "@glee dismiss a deleted user");
        state.reply("a.py", "gitea-actions", "NONE", "@glee dismiss an action");
        state.reply(
            "a.py",
            "../../user",
            "NONE",
            "@glee dismiss a name that is no name",
        );
        state.reply(
            "a.py",
            "writer",
            "NONE",
            "@glee dismiss the host does not state that I can write",
        );
        state.reply(
            "a.py",
            "helper",
            "COLLABORATOR",
            "This is a constant in a.py:1",
        );
        state.reply(
            "b.py",
            "Team",
            "NONE",
            "@glee dismiss this is my repository",
        );
    }
    publish(&scene);
    let said = scene.conversation();
    let count = |text: &str| said.iter().filter(|line| line.contains(text)).count();
    assert_eq!(
        count("Sorry, `writer`: only people who are allowed to merge"),
        1,
        "{said:#?}"
    );
    assert_eq!(
        (count("Sorry"), count("**Escalated** by `scales`")),
        (1, 1),
        "{said:#?}"
    );
    assert_eq!(
        count("**Dismissed** by `Team`: this is my repository"),
        1,
        "{said:#?}"
    );
    let state = scene.double.state();
    let asked = |login: &str| state.requests.iter().any(|request| request.contains(login));
    assert!(
        asked("/collaborators/helper")
            && !asked("Ghost")
            && !asked("actions/permission")
            && !asked("..")
    );
}

#[rstest]
#[case::gitea(&GITEA)]
#[case::old_gitea(&OLD_GITEA)]
#[case::forgejo(&FORGEJO)]
fn two_findings_on_one_line_have_threads_of_their_own(#[case] host: &'static Gitea) {
    let scene = Scene::new(host);
    scene.write(
        "a.py",
        "import pickle\n\n\ndef first(text):\n    return eval(pickle.loads(text))\n",
    );
    scene.commit("Push");
    scene.push();
    publish(&scene);
    let reviews = scene
        .double
        .state()
        .requests
        .iter()
        .filter(|line| line.ends_with("/reviews"))
        .count();
    assert_eq!(reviews, 2, "{:#?}", scene.conversation());
    let after = scene.conversation();
    publish(&scene);
    assert_eq!(scene.conversation(), after);
}

/// The change edits the configuration of its review, which is a finding without a line.
#[rstest]
#[case::gitea(&GITEA)]
#[case::forgejo(&FORGEJO)]
fn a_comment_on_a_file_is_a_comment_on_the_request(#[case] host: &'static Gitea) {
    let scene = Scene::new(host);
    scene.write(".glee/config.yml", "version: 1\n");
    scene.write("fine.py", "PRICE = 1\n");
    scene.commit("Configure");
    scene.push();
    publish(&scene);
    publish(&scene);
    let bodies = |scene: &Scene| -> Vec<String> {
        let state = scene.double.state();
        state
            .comments
            .iter()
            .map(|said| said.body.replace("<!-- glee-file -->\n", "FILE "))
            .collect()
    };
    let said = bodies(&scene);
    let of_file: Vec<&String> = said
        .iter()
        .filter(|body| body.starts_with("FILE "))
        .collect();
    assert_eq!((said.len(), of_file.len()), (2, 1), "{said:#?}");
    assert!(of_file[0].contains("In `.glee/config.yml`"), "{said:#?}");
    scene.author(&["rm", "-q", ".glee/config.yml"]);
    scene.commit("Remove the configuration");
    scene.push();
    publish(&scene);
    publish(&scene);
    let said = bodies(&scene);
    assert_eq!(
        said.iter().filter(|body| body.contains("Fixed in")).count(),
        1,
        "{said:#?}"
    );
    assert_eq!(said.len(), 3, "{said:#?}");
}

#[rstest]
#[case::gitea(&GITEA, true)]
#[case::old_gitea(&OLD_GITEA, false)]
#[case::forgejo(&FORGEJO, false)]
fn the_output_states_which_threads_are_resolved(
    #[case] host: &'static Gitea,
    #[case] can_resolve: bool,
) {
    let scene = published(host);
    scene.write("a.py", SAFE);
    scene.commit("Fix");
    scene.push();
    let output = scene.publish();
    assert_eq!(output.code, 0, "{output}");
    assert!(output.stdout.contains("1 reply"), "{output}");
    assert_eq!(
        output.stdout.contains("1 thread resolved"),
        can_resolve,
        "{output}"
    );
    assert_eq!(
        output.stderr.contains("note: 1 thread has the wrong state"),
        !can_resolve,
        "{output}"
    );
    let is_open = |state: &str| scene.conversation().contains(&format!("a.py {state}"));
    assert!(is_open(if can_resolve { "resolved" } else { "open" }));
}

#[test]
fn a_conversation_with_several_pages_of_reviews_is_read_completely() {
    let scene = Scene::new(&GITEA);
    step(&scene, 1);
    for number in 0..60 {
        review(
            &mut scene.double.state(),
            "member",
            "a.py",
            1,
            &format!("Remark {number}"),
        );
    }
    publish(&scene);
    let after = scene.conversation();
    publish(&scene);
    assert_eq!(scene.conversation(), after);
    let is_second =
        |line: &String| line.starts_with("GET") && line.contains("/reviews?limit=50&page=2");
    assert!(scene.double.state().requests.iter().any(is_second));
}
