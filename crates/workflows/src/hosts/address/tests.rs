//! Tests of the addresses of pull requests: links, remotes, and the variables of jobs.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use rstest::rstest;

use super::*;

const NO_JOB: &[(&str, &str)] = &[];

const ACTIONS: &[(&str, &str)] = &[
    ("GITHUB_SERVER_URL", "https://code.example"),
    ("GITHUB_API_URL", "https://code.example/api/v3"),
    ("GITHUB_REPOSITORY", "o/r"),
    ("GITHUB_REF", "refs/pull/7/merge"),
];

const FORGEJO: &[(&str, &str)] = &[
    ("FORGEJO_ACTIONS", "true"),
    ("GITHUB_SERVER_URL", "https://code.example/git/"),
    ("GITHUB_API_URL", "https://code.example/git/api/v1"),
    ("GITHUB_REPOSITORY", "o/r"),
    ("GITHUB_REF", "refs/pull/7/head"),
];

const GITLAB_CI: &[(&str, &str)] = &[
    ("CI_SERVER_URL", "https://code.example/gitlab"),
    ("CI_API_V4_URL", "https://code.example/gitlab/api/v4"),
    ("CI_PROJECT_PATH", "group/sub/r"),
    ("CI_MERGE_REQUEST_IID", "7"),
];

const LOOPBACK: &[(&str, &str)] = &[
    ("GITHUB_SERVER_URL", "http://127.0.0.1:8080"),
    ("GITHUB_API_URL", "http://127.0.0.1:8080/api/v3"),
];

fn found(wanted: &str, remote: Option<&str>, env: &[(&str, &str)]) -> String {
    let variable = |name: &str| {
        env.iter()
            .find(|(other, _)| *other == name)
            .map(|(_, value)| (*value).to_owned())
    };
    match find(wanted, remote, &variable) {
        Ok(RequestAddress {
            kind,
            host,
            api,
            owner,
            repository,
            number,
        }) => {
            format!("{kind:?} {host} {api} {owner} {repository} {number}")
        }
        Err(error) => {
            assert!(error.hint().is_some());
            error.to_string()
        }
    }
}

#[rstest]
#[case("refs/heads/gh-readonly-queue/main/pr-7-abc", Some("origin/main"))]
#[case(
    "refs/heads/gh-readonly-queue/release/1.x/pr-12-0123",
    Some("origin/release/1.x")
)]
#[case("refs/heads/gh-readonly-queue/a/pr-1/pr-7-abc", Some("origin/a/pr-1"))]
#[case("refs/heads/main", None)]
fn a_merge_queue_has_no_request(#[case] reference: &str, #[case] base: Option<&str>) {
    let variable = |name: &str| (name == "GITHUB_REF").then(|| reference.to_owned());
    let error = find("", Some("https://github.com/o/r.git"), &variable).unwrap_err();
    let hint = error.hint().unwrap();
    match base {
        Some(base) => assert!(
            hint.contains(&format!("glee review --base {base}`")),
            "{hint}"
        ),
        None => assert_eq!(error, AddressError::NoNumber),
    }
}

#[rstest]
#[case(
    "https://github.com/o/r/pull/7",
    "GitHub github.com https://api.github.com o r 7"
)]
#[case(
    "https://github.com/o/r/pull/7/files?w=1#diff",
    "GitHub github.com https://api.github.com o r 7"
)]
#[case(
    "HTTPS://user@GitHub.com:443/o/r/pull/7",
    "GitHub github.com https://api.github.com o r 7"
)]
#[case(
    "https://acme.ghe.com/o/r/pull/7",
    "GitHub acme.ghe.com https://api.acme.ghe.com o r 7"
)]
#[case(
    "https://git.example:8443/o/r/pull/7",
    "GitHub git.example:8443 https://git.example:8443/api/v3 o r 7"
)]
#[case(
    "http://git.example/o/r/pull/7",
    "GitHub git.example https://git.example/api/v3 o r 7"
)]
#[case(
    "https://gitlab.example/group/sub/p/-/merge_requests/7/diffs",
    "GitLab gitlab.example https://gitlab.example/api/v4 group/sub p 7"
)]
#[case(
    "https://gitlab.com/g/p/merge_requests/7",
    "GitLab gitlab.com https://gitlab.com/api/v4 g p 7"
)]
#[case(
    "https://codeberg.org/o/r/pulls/7",
    "Gitea codeberg.org https://codeberg.org/api/v1 o r 7"
)]
#[case(
    "https://git.example/o/r.js/pulls/7",
    "Gitea git.example https://git.example/api/v1 o r.js 7"
)]
#[case(
    "http://localhost:3000/o/r/pulls/7",
    "Gitea localhost:3000 http://localhost:3000/api/v1 o r 7"
)]
#[case(
    "https://github.com/o/r/pull/0",
    "`https://github.com/o/r/pull/0` is neither the number nor the address of a pull request"
)]
#[case(
    "https://github.com/o/r/issues/7",
    "`https://github.com/o/r/issues/7` is neither the number nor the address of a pull request"
)]
#[case(
    "https://github.com/o/../pull/7",
    "`https://github.com/o/../pull/7` is neither the number nor the address of a pull request"
)]
#[case(
    "https://github.com/o/r%2fx/pull/7",
    "`https://github.com/o/r%2fx/pull/7` is neither the number nor the address of a pull request"
)]
#[case(
    "ftp://a:secret@x/o/r/pull/7",
    "`ftp://***@x/o/r/pull/7` is neither the number nor the address of a pull request"
)]
fn a_link_names_host_repository_and_number(#[case] link: &str, #[case] expected: &str) {
    assert_eq!(found(link, None, NO_JOB), expected);
}

#[rstest]
#[case(
    "https://github.com/o/r.git",
    "GitHub github.com https://api.github.com o r 7"
)]
#[case(
    "https://x-access-token:abc@github.com/o/r",
    "GitHub github.com https://api.github.com o r 7"
)]
#[case(
    "git@github.com:o/r.git",
    "GitHub github.com https://api.github.com o r 7"
)]
#[case(
    "ssh://git@ssh.github.com:443/o/r.git",
    "GitHub github.com https://api.github.com o r 7"
)]
#[case(
    "ssh://git@gitlab.example:2222/g/s/p.git",
    "GitLab gitlab.example https://gitlab.example/api/v4 g/s p 7"
)]
#[case(
    "git@codeberg.org:o/r.git/",
    "Gitea codeberg.org https://codeberg.org/api/v1 o r 7"
)]
#[case(
    "git+ssh://git@forgejo.example/o/r",
    "Gitea forgejo.example https://forgejo.example/api/v1 o r 7"
)]
#[case(
    "git@git.example:o/r.git",
    "the kind of the host `git.example` is unknown"
)]
#[case(
    "/srv/git/r.git",
    "the host of pull request 7 is unknown, because the repository has no remote with a host"
)]
#[case(
    "file:///srv/git/r.git",
    "the host of pull request 7 is unknown, because the repository has no remote with a host"
)]
#[case(
    "git@github.com:r.git",
    "the host of pull request 7 is unknown, because the repository has no remote with a host"
)]
fn a_remote_names_host_and_repository(#[case] remote: &str, #[case] expected: &str) {
    for number in ["7", "#7", " !7 "] {
        assert_eq!(found(number, Some(remote), NO_JOB), expected);
    }
}

#[rstest]
#[case(ACTIONS, "GitHub code.example https://code.example/api/v3 o r 7")]
#[case(FORGEJO, "Gitea code.example https://code.example/git/api/v1 o r 7")]
#[case(
    GITLAB_CI,
    "GitLab code.example https://code.example/gitlab/api/v4 group/sub r 7"
)]
#[case(NO_JOB, "the number of the pull request is missing")]
fn a_job_names_everything(#[case] env: &[(&str, &str)], #[case] expected: &str) {
    assert_eq!(found("", None, env), expected);
}

#[rstest]
#[case(
    "https://code.example/gitlab/g/p.git",
    GITLAB_CI,
    "GitLab code.example https://code.example/gitlab/api/v4 g p 7"
)]
#[case(
    "git@code.example:o/r.git",
    FORGEJO,
    "Gitea code.example https://code.example/git/api/v1 o r 7"
)]
#[case(
    "git@github.com:o/r.git",
    FORGEJO,
    "GitHub github.com https://api.github.com o r 7"
)]
#[case(
    "http://127.0.0.1:8080/o/r.git",
    LOOPBACK,
    "GitHub 127.0.0.1:8080 http://127.0.0.1:8080/api/v3 o r 7"
)]
fn variables_of_a_job_describe_its_own_server_only(
    #[case] remote: &str,
    #[case] env: &[(&str, &str)],
    #[case] expected: &str,
) {
    assert_eq!(found("7", Some(remote), env), expected);
}

#[test]
fn a_token_is_never_sent_without_encryption() {
    let env = [
        ("GITHUB_SERVER_URL", "https://git.example"),
        ("GITHUB_API_URL", "http://api.example/v3"),
    ];
    let expected = "the address `http://api.example/v3` of the API is invalid: the address of api.example does not use https";
    assert_eq!(found("7", Some("git@git.example:o/r.git"), &env), expected);
}

#[test]
fn graphql_is_beside_the_rest_api() {
    for (api, expected) in [
        ("https://api.github.com", "https://api.github.com/graphql"),
        (
            "https://git.example/api/v3",
            "https://git.example/api/graphql",
        ),
    ] {
        let env = |name: &str| match name {
            "GITHUB_SERVER_URL" => Some("https://git.example".to_owned()),
            "GITHUB_API_URL" => Some(api.to_owned()),
            _ => None,
        };
        let address = find("https://git.example/o/r/pull/1", None, &env).unwrap();
        assert_eq!(address.graphql(), expected);
    }
}
