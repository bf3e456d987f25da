//! Tests reviews of pull requests, with a real repository and loopback doubles of the hosts.

mod attacks;
mod double;
mod gitea;
mod github;
mod gitlab;
mod intent;
mod openapi;
mod policy;
mod scene;
#[cfg(all(feature = "server", target_os = "linux"))]
mod workers;

use double::{AUTHOR, HostDouble, KillAt, Said};
use gitea::{FORGEJO, GITEA, OLD_GITEA};
use github::GitHub;
use gitlab::GitLab;
use glee_workflows::hosts::{Comment, NewComment};
use rstest::rstest;
pub(crate) use scene::Scene;

fn code(name: &str) -> String {
    format!("def {name}(text):\n    return eval(text)\n")
}

const SAFE: &str = "def load(text):\n    return int(text)\n";

/// A pull request on GitHub with two findings.
pub(crate) fn with_findings() -> Scene {
    let scene = Scene::new(&GitHub);
    step(&scene, 1);
    scene
}

/// The twelve pushes, each with what people say before it.
const STEPS: usize = 12;

fn step(scene: &Scene, number: usize) {
    let reply = |path: &str, by: &str, association: &str, body: &str| {
        scene.double.state().reply(path, by, association, body);
    };
    scene
        .double
        .state()
        .maintainers
        .insert("maintainer".to_owned());
    match number {
        1 => {
            scene.write("a.py", &code("first"));
            scene.write("b.py", &code("second"));
        }
        2 => {
            reply("a.py", "member", "MEMBER", "This is a constant in a.py:1");
            scene.write("c.py", &code("third"));
        }
        3 => {
            reply("b.py", AUTHOR, "COLLABORATOR", "@glee dismiss it is fine");
            scene.double.state().maintainers.insert(AUTHOR.to_owned());
            scene.write("d.py", &code("fourth"));
        }
        4 => {
            reply(
                "b.py",
                "maintainer",
                "MEMBER",
                "@glee dismiss we accept this",
            );
            scene.write("c.py", &format!("# a comment\n\n{}", code("third")));
        }
        5 => scene.write("c.py", SAFE),
        6 => {
            std::fs::create_dir_all(scene.sandbox.home().join("author/lib")).expect("a folder");
            scene.author(&["mv", "d.py", "lib/d.py"]);
        }
        7 => {
            scene.author(&["commit", "-q", "--amend", "-m", "Another message"]);
        }
        8 => reply(
            "d.py",
            "member",
            "MEMBER",
            "It is hard to say whether this matters",
        ),
        9 => reply(
            "d.py",
            "maintainer",
            "MEMBER",
            "@glee enforce it is dangerous",
        ),
        10 => {
            reply("d.py", "stranger", "NONE", "@glee dismiss nobody cares");
            scene.write("e.py", &code("fifth"));
        }
        11 => scene.write("lib/d.py", SAFE),
        _ => scene.write("c.py", &code("third_again")),
    }
    scene.commit(&format!("Push {number}"));
    scene.push();
}

#[rstest]
#[case::github(&GitHub)]
#[case::gitlab(&GitLab)]
#[case::gitea(&GITEA)]
#[case::old_gitea(&OLD_GITEA)]
#[case::forgejo(&FORGEJO)]
fn twelve_pushes_leave_every_thread_in_the_right_state(#[case] host: &'static dyn HostDouble) {
    let scene = Scene::new(host);
    let mut said = Vec::new();
    for number in 1..=STEPS {
        step(&scene, number);
        let output = scene.publish();
        assert_eq!(output.code, 0, "push {number}: {output}");
        let after = scene.conversation();
        let again = scene.publish();
        assert_eq!(again.code, 0, "push {number}: {again}");
        assert_eq!(
            scene.conversation(),
            after,
            "push {number}: nothing is said twice"
        );
        said = after;
    }
    insta::assert_snapshot!(format!("twelve_pushes_{}", host.name()), said.join("\n"));
    let runs = scene.sandbox.glee(&["runs", "--recent", "1"]);
    assert!(runs.stdout.contains("PR 7"), "{runs}");
    assert_eq!(
        scene.sandbox.git(&["status", "--porcelain"]),
        "",
        "the work tree is untouched"
    );
    let refs = scene.sandbox.git(&["for-each-ref", "--format=%(refname)"]);
    assert_eq!(
        refs,
        "refs/heads/main\nrefs/remotes/origin/HEAD\nrefs/remotes/origin/main\n"
    );
}

/// Sends what Glee published a second time, as a worker does that wakes up after another one has published.
fn publish_again(scene: &Scene) {
    let host = scene.host();
    let request = host.request().expect("the request");
    let conversation = host.conversation(&request).expect("the conversation");
    // The hidden first lines by which Gitea knows replies are added to each text.
    let text = |comment: &Comment| {
        let text = comment.body.as_written();
        let hidden = text.starts_with("<!-- glee-reply:");
        match text.split_once('\n') {
            Some((_, rest)) if hidden => rest.to_owned(),
            _ => text.to_owned(),
        }
    };
    for thread in &conversation.threads {
        let (first, replies) = thread.comments.split_first().expect("a comment");
        let path = thread.path.clone().expect("a path");
        let state = scene.double.state();
        let known = state.threads.iter().find(|thread| thread.path == path);
        let line = known.and_then(|thread| thread.line);
        drop(state);
        let comment = NewComment {
            path,
            line,
            start_line: None,
            body: text(first),
        };
        host.comment(&request, &[comment]).expect("a comment");
        for reply in replies.iter().filter(|reply| reply.is_own) {
            let said = host.reply(&request, thread, &text(reply));
            said.expect("a reply");
        }
    }
    for summary in &conversation.comments {
        let said = host.summarise(None, &text(summary));
        said.expect("a summary");
    }
}

#[rstest]
#[case::github(&GitHub)]
#[case::gitlab(&GitLab)]
#[case::gitea(&GITEA)]
#[case::old_gitea(&OLD_GITEA)]
#[case::forgejo(&FORGEJO)]
fn what_was_published_twice_is_deleted_unless_somebody_answered_it(
    #[case] host: &'static dyn HostDouble,
) {
    let scene = Scene::new(host);
    for number in 1..=2 {
        step(&scene, number);
        assert_eq!(scene.publish().code, 0, "push {number}");
    }
    let once = scene.conversation();
    publish_again(&scene);
    assert_ne!(scene.conversation(), once);
    let output = scene.publish();
    assert_eq!(output.code, 0, "{output}");
    let replies_stay = matches!(host.name(), "gitea" | "forgejo");
    let (deleted, note) = match replies_stay {
        true => (4, "note: 1 comment is there twice"),
        false => (5, ""),
    };
    assert!(
        output
            .stdout
            .contains(&format!(": {deleted} doubled comments deleted, ")),
        "{output}"
    );
    assert!(output.stderr.contains(note), "{output}");
    let mut after = scene.conversation();
    if replies_stay {
        let reply = once.iter().find(|line| line.contains("**Escalated**"));
        let reply = reply.expect("a reply");
        let at = after.iter().position(|line| line == reply);
        assert_eq!(&after.remove(at.expect("a reply")), reply);
    }
    assert_eq!(after, once);

    // The pages of an old server show both comments as one conversation.
    if host.name() == "old_gitea" {
        return;
    }
    publish_again(&scene);
    for thread in &mut scene.double.state().threads {
        let said = Said {
            id: 9000 + thread.comments[0].id,
            by: "member".to_owned(),
            association: "MEMBER".to_owned(),
            body: "I saw this".to_owned(),
        };
        thread.comments.push(said);
    }
    let answered = scene.conversation().len();
    let output = scene.publish();
    assert_eq!(output.code, 0, "{output}");
    assert!(scene.double.state().threads.len() > 3, "{output}");
    assert!(scene.conversation().len() >= answered, "{output}");
}

/// Kills Glee at a request of a push, publishes again, and compares the conversation with that of an undisturbed
/// command. Returns false if there are fewer requests.
fn kill_and_complete(before: &Scene, expected: &[String], number: usize, at: KillAt) -> bool {
    let scene = before.copy();
    if !scene.publish_killed(at) {
        return false;
    }
    let output = scene.publish();
    assert_eq!(output.code, 0, "push {number}, {at:?}: {output}");
    assert_eq!(scene.conversation(), expected, "push {number}, {at:?}");
    true
}

/// The numbers of the requests that write, or of all requests, since `first`.
fn requests(scene: &Scene, first: usize, all: bool) -> Vec<usize> {
    let state = scene.double.state();
    let writes = state.writes.iter().skip(first);
    (1..)
        .zip(writes)
        .filter(|(_, writes)| all || **writes)
        .map(|(number, _)| number)
        .collect()
}

fn killed_at_requests(host: &'static dyn HostDouble, all: bool) {
    let scene = Scene::new(host);
    let mut cases = Vec::new();
    for number in 1..=STEPS {
        step(&scene, number);
        let before = scene.copy();
        let first = scene.double.state().requests.len();
        let output = scene.publish();
        assert_eq!(output.code, 0, "push {number}: {output}");
        let expected = scene.conversation();
        for request in requests(&scene, first, all) {
            cases.push((number, before.copy(), expected.clone(), request));
        }
    }
    assert!(cases.len() > 20, "only {} requests are tried", cases.len());
    let next = std::sync::atomic::AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                while let Some((number, before, expected, request)) =
                    cases.get(next.fetch_add(1, std::sync::atomic::Ordering::SeqCst))
                {
                    for is_applied in [false, true] {
                        let at = KillAt {
                            request: *request,
                            is_applied,
                        };
                        assert!(
                            kill_and_complete(before, expected, *number, at),
                            "push {number}, {at:?}"
                        );
                    }
                }
            });
        }
    });
}

#[test]
fn a_command_that_is_killed_at_a_write_is_completed_without_doubles() {
    killed_at_requests(&GitHub, false);
}

#[rstest]
#[case::github(&GitHub)]
#[case::gitlab(&GitLab)]
#[case::gitea(&GITEA)]
#[case::old_gitea(&OLD_GITEA)]
#[case::forgejo(&FORGEJO)]
#[ignore = "it takes minutes; `.ci/nightly` runs it"]
fn a_command_that_is_killed_at_any_request_is_completed_without_doubles(
    #[case] host: &'static dyn HostDouble,
) {
    killed_at_requests(host, true);
}
