//! Repositories that try to run programs: settings, attributes, hooks and includes, in everything Glee reads.

use super::{inert, nothing_fired};
use crate::agent::Step;
use crate::runner::Cases;
use crate::scene::{CODE, DONE, Kind, Scene, emit, fix};

/// Settings that make git run `RUN`, as `name=value`.
const SETTINGS: [&str; 40] = [
    "core.fsmonitor=RUN",
    "core.hooksPath=HOOKS",
    "core.pager=RUN",
    "core.editor=RUN",
    "core.sshCommand=RUN",
    "core.gitProxy=RUN",
    "core.askPass=RUN",
    "core.alternateRefsCommand=RUN",
    "core.attributesFile=ATTRIBUTES",
    "core.worktree=/",
    "pager.diff=RUN",
    "pager.ls-files=RUN",
    "diff.external=RUN",
    "diff.x.command=RUN",
    "diff.x.textconv=RUN",
    "diff.trustExitCode=true",
    "filter.x.clean=RUN",
    "filter.x.smudge=RUN",
    "filter.x.process=RUN",
    "merge.x.driver=RUN",
    "interactive.diffFilter=RUN",
    "gpg.program=RUN",
    "gpg.ssh.program=RUN",
    "commit.gpgSign=true",
    "tag.gpgSign=true",
    "log.showSignature=true",
    "credential.helper=!RUN",
    "alias.ls-files=!RUN",
    "alias.cat-file=!RUN",
    "alias.rev-parse=!RUN",
    "alias.hash-object=!RUN",
    "uploadpack.packObjectsHook=RUN",
    "include.path=INCLUDED",
    "includeIf.gitdir:/.path=INCLUDED",
    "remote.origin.promisor=true",
    "remote.origin.uploadpack=RUN",
    "extensions.partialClone=origin",
    "submodule.x.update=!RUN",
    "url.ext::RUN.insteadOf=https://",
    "trailer.x.command=RUN",
];

const HOOKS: [&str; 10] = [
    "pre-commit",
    "post-commit",
    "post-checkout",
    "post-index-change",
    "reference-transaction",
    "pre-auto-gc",
    "post-rewrite",
    "fsmonitor-watchman",
    "sendemail-validate",
    "proc-receive",
];

/// A tree with these settings, whose attributes name all drivers.
fn scene(settings: &[&str]) -> Scene {
    let mut scene = Scene::fixing(Kind::Git);
    scene.write(
        ".gitattributes",
        "* filter=x diff=x merge=x ident text=auto\n",
    );
    scene.git(&["add", "-A"]);
    scene.git(&["commit", "-q", "-m", "Attributes"]);
    scene
        .write("app.py", format!("{CODE}# edited\n"))
        .write("new.py", "x = 1\n");
    let place = |name: &str| scene.home().join(name);
    let run = place("run");
    let touch = format!(
        "#!/bin/sh\ntouch '{}'\ncat\n",
        place("canary-git").display()
    );
    std::fs::write(&run, &touch).expect("a written file");
    std::fs::create_dir(place("hooks")).expect("a folder");
    for hook in HOOKS {
        std::fs::write(place("hooks").join(hook), &touch).expect("a written file");
        scene.script(format!(".git/hooks/{hook}"), &touch);
    }
    assert!(scene.shell(&format!(
        "chmod -R 755 '{}' '{}'",
        run.display(),
        place("hooks").display()
    )));
    std::fs::write(place("attributes"), "* filter=x diff=x\n").expect("a written file");
    let run = run.display().to_string();
    let included = format!(
        "[core]\n\tfsmonitor = {run}\n[diff]\n\texternal = {run}\n[filter \"x\"]\n\tclean = {run}\n"
    );
    std::fs::write(place("included"), included).expect("a written file");
    let mut text = std::fs::read_to_string(scene.root().join(".git/config")).expect("it is there");
    for setting in settings {
        let (name, value) = setting.split_once('=').expect("a setting has a value");
        let value = value
            .replace("RUN", &run)
            .replace("HOOKS", &place("hooks").display().to_string())
            .replace("ATTRIBUTES", &place("attributes").display().to_string())
            .replace("INCLUDED", &place("included").display().to_string());
        let (section, key) = name.rsplit_once('.').expect("a setting lies in a section");
        let section = match section.split_once('.') {
            Some((section, inner)) => format!("{section} {:?}", inner.replace("RUN", &run)),
            None => section.to_owned(),
        };
        text.push_str(&format!("[{section}]\n\t{key} = {value}\n"));
    }
    std::fs::write(scene.root().join(".git/config"), text).expect("a written file");
    scene.play(
        "fix",
        "respond",
        [
            fix(),
            Step::Replace("new.py".into(), "1".into(), "2".into()),
            emit(DONE),
        ],
    );
    scene
}

pub(crate) fn add(cases: &mut Cases) {
    const ROW: &str = "attack: git's settings and hooks";
    let looks: [(&str, &[&str]); 4] = [
        ("what is not committed", &[]),
        ("since a commit", &["--base", "HEAD~1"]),
        ("what is staged", &["--staged"]),
        ("a commit", &["--commit", "HEAD"]),
    ];
    let mut singles: Vec<(String, Vec<&'static str>)> = SETTINGS
        .iter()
        .map(|setting| ((*setting).to_owned(), vec![*setting]))
        .collect();
    singles.push(("none".to_owned(), Vec::new()));
    for (number, (name, settings)) in singles.into_iter().enumerate() {
        let (look, args) = looks[number % looks.len()];
        let of_review = settings.clone();
        cases.add(ROW, format!("{name}, {look}"), move || {
            let scene = scene(&of_review);
            let mut words = vec!["review", "--no-input", "--format", "json"];
            words.extend(args);
            let output = scene.ready().glee(&words);
            inert(&output);
            nothing_fired(&scene);
        });
        cases.add(ROW, format!("{name}, fixed and undone"), move || {
            let scene = scene(&settings);
            let before = scene.root().join("app.py");
            let code = std::fs::read(&before).expect("it is there");
            let output = scene.arbitrate();
            inert(&output);
            nothing_fired(&scene);
            for words in [["runs", "diff"], ["runs", "undo"], ["runs", "show"]] {
                inert(&scene.glee(&words));
            }
            nothing_fired(&scene);
            assert_eq!(
                std::fs::read(&before).expect("it is there"),
                code,
                "{output}"
            );
        });
    }
}
