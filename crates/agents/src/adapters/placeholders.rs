//! Tests how the prompt, the model and the session reach a program of the user's own.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use crate::adapters::programs::described::Described;
use crate::adapters::registry;
use crate::adapters::roles::line;
use crate::samples;
use crate::{Adapter as _, AdapterKind, Call, Profile, Program, Session};
use glee_model::domain::{Agent, FailureKind, PromptForm, PromptLength, Usage};

#[test]
fn placeholders_stand_for_the_prompt_the_model_and_the_session() {
    let with =
        |command: &[&str], profile: Option<Profile>, model: Option<&str>, session: Option<&str>| {
            let agent = Agent {
                model: model.map(ToOwned::to_owned),
                profile: profile.map(Box::new),
                ..samples::agent("it", "text", command)
            };
            let request = samples::review(&agent);
            let program = Program::new("/bin/it");
            let session = session.map(|id| Session {
                agent: agent.name.clone(),
                id: id.to_owned(),
                used: Usage::default(),
            });
            let call = Call {
                session,
                ..samples::call(&agent, &program, &request)
            };
            let described = Described::of(&agent);
            let invocation = match &described {
                Some(described) => described.command(&call),
                None => AdapterKind::Text.adapter().command(&call),
            };
            let invocation = invocation.unwrap();
            let stdin = String::from_utf8(invocation.stdin.clone()).unwrap();
            let files: Vec<String> = invocation
                .files
                .iter()
                .map(|(_, text)| text.clone())
                .collect();
            (line(&invocation), stdin, files.concat())
        };
    let profile = |args: &[&str], prompt| Profile {
        args: args.iter().map(ToString::to_string).collect(),
        prompt,
        ..Profile::named("it")
    };
    let plain = |command: &[&str]| with(command, None, None, None);
    let own =
        |line: &str, stdin: &str, file: &str| (line.to_owned(), stdin.to_owned(), file.to_owned());
    assert_eq!(plain(&["it", "-x"]), own("-x", "the prompt", ""));
    assert_eq!(
        plain(&["it", "-p", "{prompt}"]),
        own("-p 'the prompt'", "", "")
    );
    assert_eq!(
        plain(&["it", "-p={prompt}", "z"]),
        own("'-p=the prompt' z", "", "")
    );
    assert_eq!(
        plain(&["it", "-f", "{prompt_file}"]),
        own("-f /kept/call.1.prompt", "", "the prompt")
    );
    let args = [
        "-m",
        "{model}",
        "--resume={session}",
        "-s",
        "{session}",
        "run",
    ];
    let of_profile =
        |model, session| with(&["it", "own"], Some(profile(&args, None)), model, session).0;
    assert_eq!(of_profile(None, None), "run own");
    assert_eq!(of_profile(Some("m1"), None), "-m m1 run own");
    assert_eq!(
        of_profile(Some("m1"), Some("s1")),
        "-m m1 '--resume=s1' -s s1 run own"
    );
    let form = |form| {
        with(
            &["it", "own"],
            Some(profile(&["-p"], Some(form))),
            None,
            None,
        )
    };
    assert_eq!(form(PromptForm::Stdin), own("-p own", "the prompt", ""));
    assert_eq!(
        form(PromptForm::Argument),
        own("-p own 'the prompt'", "", "")
    );
    assert_eq!(
        form(PromptForm::File),
        own("-p own /kept/call.1.prompt", "", "the prompt")
    );
}

#[test]
fn a_prompt_that_no_argument_holds_is_too_long() {
    for (length, is_refused) in [
        (100, false),
        (131_070, false),
        (131_072, true),
        (1 << 20, true),
    ] {
        for (command, takes_any) in [("{prompt}", false), ("{prompt_file}", true)] {
            let agent = samples::agent("it", "text", &["it", command]);
            let request = samples::review(&agent);
            let program = Program::new("/bin/it");
            let prompt = "x".repeat(length);
            let call = Call {
                prompt: prompt.as_str().into(),
                ..samples::call(&agent, &program, &request)
            };
            let refused = AdapterKind::Text.adapter().command(&call).err();
            assert_eq!(
                refused.is_some(),
                is_refused && !takes_any,
                "{length} {command}"
            );
            if let Some(error) = refused {
                assert_eq!(error.kind, FailureKind::TooLong);
                assert!(error.hint.unwrap().contains("{prompt_file}"));
            }
        }
    }
    let longest =
        |command: &str| registry::longest_prompt(&samples::agent("it", "", &["it", command]));
    assert_eq!(longest("{prompt}").map(PromptLength::most), Some(131_071));
    assert_eq!(longest("{prompt_file}"), None);
}
