//! The exit policy, reviews without a judge, and the amount of work of a further push.

use std::fs;

use rstest::rstest;

use super::double::HostDouble;
use super::gitea::{FORGEJO, GITEA};
use super::github::GitHub;
use super::scene::{PUBLISH, Scene};
use super::{SAFE, code};

const REVIEWER: &str =
    "version: 1\nagents:\n  - {name: rules, command: 'builtin:rules', role: reviewer}\n";
const JUDGE: &str = "  - {name: scales, command: scales, role: judge}\n";

fn scene(host: &'static dyn HostDouble, config: &str) -> Scene {
    let scene = Scene::new(host);
    fs::write(scene.sandbox.user_config(), config).expect("a file");
    scene
        .double
        .state()
        .maintainers
        .insert("maintainer".to_owned());
    scene
}

fn push(scene: &Scene, path: &str, text: &str) {
    scene.write(path, text);
    scene.commit("A push");
    scene.push();
}

/// Publishes, and returns the exit code of the command and the conclusion of the newest check.
fn published(scene: &Scene) -> (i32, String) {
    let output = scene.publish();
    let check = scene
        .double
        .state()
        .checks
        .last()
        .map(|check| check[1].clone());
    (
        output.code,
        check.unwrap_or_else(|| panic!("no check: {output}")),
    )
}

#[rstest]
#[case::github(&GitHub)]
#[case::gitea(&GITEA)]
#[case::forgejo(&FORGEJO)]
fn the_mode_enforce_fails_the_command_and_the_check(#[case] host: &'static dyn HostDouble) {
    let scene = scene(host, &format!("{REVIEWER}{JUDGE}pr:\n  mode: enforce\n"));
    let (failure, success) = ("failure".to_owned(), "success".to_owned());
    push(&scene, "a.py", &code("first"));
    assert_eq!(
        published(&scene),
        (1, failure.clone()),
        "a mandatory finding is open"
    );
    scene.double.state().reply(
        "a.py",
        "member",
        "MEMBER",
        "It is hard to say whether this matters",
    );
    assert_eq!(
        published(&scene),
        (3, failure.clone()),
        "a dispute waits for a person"
    );
    scene
        .double
        .state()
        .reply("a.py", "maintainer", "MEMBER", "@glee enforce it matters");
    assert_eq!(
        published(&scene),
        (1, failure),
        "a person enforced the finding"
    );
    push(&scene, "a.py", SAFE);
    assert_eq!(
        published(&scene),
        (0, success.clone()),
        "the finding is fixed"
    );
    push(&scene, "b.py", &code("second"));
    assert_eq!(published(&scene).0, 1);
    scene.double.state().reply(
        "b.py",
        "maintainer",
        "MEMBER",
        "@glee dismiss we accept this",
    );
    assert_eq!(
        published(&scene),
        (0, success),
        "a person dismissed the finding"
    );
    let state = scene.double.state();
    let is_right = state
        .threads
        .iter()
        .all(|thread| thread.is_resolved == host.can_resolve());
    assert!(is_right, "{:#?}", state.threads);
}

#[test]
fn the_check_of_a_change_without_code_is_neutral() {
    let scene = scene(&GitHub, &format!("{REVIEWER}pr:\n  mode: enforce\n"));
    let neutral = (0, "neutral".to_owned());
    push(&scene, "README.md", "text\n");
    assert_eq!(published(&scene), neutral, "a document");
    push(&scene, "Cargo.lock", "1\n");
    assert_eq!(published(&scene), neutral, "a lock file");
    push(&scene, "a.py", &code("first"));
    assert_eq!(published(&scene), (1, "failure".to_owned()));
}

#[rstest]
#[case::github(&GitHub)]
#[case::gitea(&GITEA)]
#[case::forgejo(&FORGEJO)]
fn without_a_judge_an_objection_waits_for_a_maintainer(#[case] host: &'static dyn HostDouble) {
    let scene = scene(host, &format!("{REVIEWER}pr:\n  mode: enforce\n"));
    push(&scene, "a.py", &code("first"));
    assert_eq!(scene.publish().code, 1);
    scene
        .double
        .state()
        .reply("a.py", "member", "MEMBER", "This is a constant in a.py:1");
    let waiting = scene.publish();
    assert_eq!(waiting.code, 3, "{waiting}");
    assert!(
        waiting
            .stderr
            .contains("no judge is connected, so the objections wait for a maintainer"),
        "{waiting}"
    );
    let answer = scene.double.state().threads[0]
        .comments
        .last()
        .map(|said| said.body.clone());
    let answer = answer.expect("an answer");
    assert!(answer.contains("**Waits for a person**"), "{answer}");
    assert!(
        answer.contains("`@glee enforce <reason>` or `@glee dismiss <reason>`"),
        "{answer}"
    );
    let before = scene.conversation();
    assert_eq!(scene.publish().code, 3);
    assert_eq!(scene.conversation(), before, "the answer is given once");
    scene.double.state().reply(
        "a.py",
        "maintainer",
        "MEMBER",
        "@glee dismiss it is a constant",
    );
    assert_eq!(scene.publish().code, 0);
    assert_eq!(
        scene.double.state().threads[0].is_resolved,
        host.can_resolve()
    );
}

/// Writes the paths of the files in each prompt to a file outside of the tree, and finds nothing.
const READER: &str = r#"#!/bin/sh
sed -En 's/^<<<GLEE-DATA.* (path|diff)=([^ ]*).*/\2/p' >> "$HOME/read"
echo "GLEE-REVIEW-END nonce=$GLEE_NONCE findings=0"
"#;

#[rstest]
#[case::github(&GitHub)]
#[case::gitea(&GITEA)]
#[case::forgejo(&FORGEJO)]
fn a_further_push_is_reviewed_by_what_it_changes(#[case] host: &'static dyn HostDouble) {
    let config = "version: 1\nsandbox: 'off'\nagents:\n  - {name: reader, command: reader, role: reviewer}\n";
    let scene = scene(host, config);
    scene.sandbox.program("reader", READER);
    let read = || {
        let path = scene.sandbox.home().join("read");
        let text = fs::read_to_string(&path).unwrap_or_default();
        drop(fs::remove_file(path));
        let mut files: Vec<String> = text.lines().map(str::to_owned).collect();
        files.sort();
        files.dedup();
        files
    };
    let review = || {
        let output = scene
            .sandbox
            .glee(&[&PUBLISH[..], &["--format", "json"]].concat());
        assert_eq!(output.code, 0, "{output}");
    };
    for number in 0..20 {
        scene.write(&format!("f{number:02}.py"), &format!("VALUE = {number}\n"));
    }
    push(&scene, "f20.py", "VALUE = 20\n");
    review();
    assert_eq!(read().len(), 21);
    review();
    assert_eq!(read(), Vec::<String>::new(), "nothing is read twice");
    push(&scene, "f07.py", "VALUE = 7\nOTHER = 70\n");
    review();
    assert_eq!(read(), ["f07.py"]);
    // A force-push with the same content changes nothing.
    scene.author(&["commit", "-q", "--amend", "-m", "Another message"]);
    scene.push();
    review();
    assert_eq!(read(), Vec::<String>::new());
}

#[test]
fn the_reviews_of_one_pull_request_have_one_budget() {
    let reviewer = "version: 1\nagents:\n  - {name: lens, command: lens, role: reviewer, price: 1000/1/1}\n\
                    sandbox: 'off'\nbudget:\n  request_usd: 0.01\n";
    let scene = scene(&GitHub, reviewer);
    let text = "#!/bin/sh\ncat >/dev/null\necho called >> \"$HOME/calls\"\n\
                echo \"GLEE-REVIEW-END nonce=$GLEE_NONCE findings=0 read=all\"\n";
    scene.sandbox.program("lens", text);
    let calls = || {
        let calls = fs::read_to_string(scene.sandbox.home().join("calls"));
        calls.map_or(0, |calls| calls.lines().count())
    };
    push(&scene, "a.py", &code("first"));
    let first = scene.publish();
    assert_eq!((first.code, calls()), (0, 1), "{first}");
    push(&scene, "b.py", &code("second"));
    let second = scene.publish();
    assert_eq!((second.code, calls()), (75, 1), "{second}");
    assert!(
        second
            .to_string()
            .contains("`budget.request_usd` is used up"),
        "{second}"
    );
}
