//! Tests that secrets are redacted, and that other text is not redacted. This file contains no real secret.

use std::io::BufReader;

use super::*;

const ALNUM: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
const HEX: &str = "0123456789abcdef";
const DIGITS: &str = "0123456789";
const BASE32: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
const LOWER: &str = "abcdefghijklmnopqrstuvwxyz";

/// Generates a secret from deterministic pseudo-random characters, so that this file contains no secret.
fn random(alphabet: &str, length: usize, seed: &str) -> String {
    let mut hash = blake3::Hasher::new();
    hash.update(seed.as_bytes());
    let mut reader = hash.finalize_xof();
    let mut byte = || {
        let mut one = [0];
        reader.fill(&mut one);
        usize::from(one[0])
    };
    let letters: Vec<char> = alphabet.chars().collect();
    (0..length)
        .map(|_| letters[byte() % letters.len()])
        .collect()
}

/// Returns lines that contain a secret, each with the secret and the rule that has to find the secret.
fn fixtures() -> Vec<(String, String, &'static str)> {
    // Each row contains the rule, the text before the secret, the prefix of the secret, the alphabet and the
    // length of the random part, and the text after the secret.
    let tokens = [
        (
            "aws-access-token",
            "AWS_ACCESS_KEY_ID=",
            "AKIA",
            BASE32,
            16,
            "",
        ),
        ("github-pat", "token: ", "ghp_", ALNUM, 36, ""),
        (
            "github-fine-grained-pat",
            "GITHUB=",
            "github_pat_",
            ALNUM,
            82,
            "",
        ),
        ("github-oauth", "", "gho_", ALNUM, 36, ""),
        ("github-app-token", "", "ghs_", ALNUM, 36, ""),
        ("gitlab-pat", "", "glpat-", ALNUM, 20, ""),
        (
            "stripe-access-token",
            "stripe.api_key = '",
            "sk_live_",
            ALNUM,
            24,
            "'",
        ),
        ("gcp-api-key", "key: \"", "AIza", ALNUM, 35, "\""),
        (
            "npm-access-token",
            "//registry.npmjs.org/:_authToken=",
            "npm_",
            ALNUM,
            36,
            "",
        ),
        (
            "pypi-upload-token",
            "password = ",
            "pypi-AgEIcHlwaS5vcmc",
            ALNUM,
            60,
            "",
        ),
        ("sendgrid-api-token", "", "SG.", ALNUM, 66, ""),
        ("twilio-api-key", "twilio ", "SK", HEX, 32, ""),
        ("digitalocean-pat", "", "dop_v1_", HEX, 64, ""),
        ("shopify-access-token", "", "shpat_", HEX, 32, ""),
        (
            "huggingface-access-token",
            "HF_TOKEN=",
            "hf_",
            LOWER,
            34,
            "",
        ),
        ("databricks-api-token", "", "dapi", HEX, 32, ""),
        ("doppler-api-token", "", "dp.pt.", ALNUM, 43, ""),
        ("linear-api-key", "", "lin_api_", ALNUM, 40, ""),
        (
            "new-relic-user-api-key",
            "NEW_RELIC_KEY=",
            "NRAK-",
            ALNUM,
            27,
            "",
        ),
        ("planetscale-password", "", "pscale_pw_", ALNUM, 43, ""),
        ("pulumi-api-token", "", "pul-", HEX, 40, ""),
        ("rubygems-api-token", "", "rubygems_", HEX, 48, ""),
        ("sentry-user-token", "", "sntryu_", HEX, 64, ""),
        ("shippo-api-token", "", "shippo_live_", HEX, 40, ""),
        ("square-access-token", "", "sq0atp-", ALNUM, 22, ""),
        ("vault-service-token", "VAULT_TOKEN=", "hvs.", ALNUM, 95, ""),
        ("grafana-cloud-api-token", "", "glc_", ALNUM, 60, ""),
        ("perplexity-api-key", "", "pplx-", ALNUM, 48, ""),
        (
            "age-secret-key",
            "",
            "AGE-SECRET-KEY-1",
            "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L",
            58,
            "",
        ),
        (
            "slack-webhook-url",
            "url = \"",
            "https://hooks.slack.com/services/",
            ALNUM,
            44,
            "\"",
        ),
        ("generic-api-key", "SESSION_SECRET=", "", ALNUM, 40, ""),
        ("generic-api-key", "  \"api_key\": \"", "", HEX, 32, "\","),
        (
            "generic-api-key",
            "const authToken = '",
            "",
            ALNUM,
            32,
            "';",
        ),
        ("generic-api-key", "DB_PASSWORD=", "", ALNUM, 24, ""),
        ("generic-api-key", "credentials: ", "", ALNUM, 28, ""),
    ];
    let mut fixtures: Vec<_> = tokens
        .iter()
        .map(|(rule, before, begin, alphabet, length, end)| {
            let secret = format!(
                "{begin}{}",
                random(alphabet, *length, &format!("{rule}{before}"))
            );
            (format!("{before}{secret}{end}"), secret, *rule)
        })
        .collect();
    let digits = |length, seed| random(DIGITS, length, seed);
    let bot = format!(
        "xoxb-{}-{}-{}",
        digits(12, "a"),
        digits(12, "b"),
        random(ALNUM, 24, "slack")
    );
    fixtures.push((format!("SLACK={bot}"), bot, "slack-bot-token"));
    let jwt = ["ey", ".ey", "."]
        .map(|start| format!("{start}{}", random(ALNUM, 40, start)))
        .concat();
    fixtures.push((format!("Authorization: Bearer {jwt}"), jwt, "jwt"));
    let openai = format!(
        "sk-{}T3BlbkFJ{}",
        random(ALNUM, 20, "x"),
        random(ALNUM, 20, "y")
    );
    fixtures.push((format!("OPENAI_API_KEY={openai}"), openai, "openai-api-key"));
    let heroku = [8, 4, 4, 4, 12]
        .map(|length| random(HEX, length, &length.to_string()))
        .join("-");
    fixtures.push((
        format!("heroku_key = \"{heroku}\""),
        heroku,
        "heroku-api-key",
    ));
    let key = pem("RSA ");
    fixtures.push((format!("key = '''{key}'''"), key, "private-key"));
    fixtures
}

fn pem(kind: &str) -> String {
    let body: Vec<String> = (0..8)
        .map(|line| random(ALNUM, 64, &line.to_string()))
        .collect();
    ["BEGIN", "END"]
        .map(|word| format!("-----{word} {kind}PRIVATE KEY-----"))
        .join(&format!("\n{}\n", body.join("\n")))
}

#[test]
fn forty_secrets_are_replaced_and_nothing_else() {
    let fixtures = fixtures();
    assert_eq!(fixtures.len(), 40);
    for (line, secret, rule) in fixtures {
        let text = format!("# before\nname = \"shop\"\n{line}\nport = 8080\n");
        let clean = redact(&text);
        let digits = &blake3::hash(secret.as_bytes()).to_hex()[..4];
        let lines = "\n".repeat(secret.matches('\n').count());
        let expected = text.replace(&secret, &format!("[secret:{rule}:{digits}]{lines}"));
        assert_eq!(clean, expected, "{rule}");
        assert_eq!(redact(&clean), expected, "a placeholder is no secret");
    }
}

#[test]
fn what_only_looks_like_a_secret_stays() {
    for text in [
        "api_key = os.environ[\"API_KEY\"]",
        "token = request.headers.get(\"authorization\")",
        "password = \"${DB_PASSWORD}\"",
        "let public_key = include_str!(\"server.pub\");",
        "primary_key: customer_id_number_7",
        "secret = \"{{ vault_password }}\"",
        "AKIAAAAAAAAAAAAAAAAA",
        "-----BEGIN PUBLIC KEY-----\nMFwwDQYJ\n-----END PUBLIC KEY-----",
        "commit 2c26b46b68ffc68ff99b453c1d30413413422d70",
        "한국어 텍스트와 이모지 🦀",
    ] {
        assert!(
            matches!(redact(text), Cow::Borrowed(_)),
            "{text}: {}",
            redact(text)
        );
    }
}

#[test]
fn a_private_key_is_told_with_its_line() {
    assert_eq!(private_key(&format!("a\nb\n{}", pem("EC "))), Some(3));
    assert_eq!(
        private_key("-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----"),
        None
    );
}

#[test]
fn every_string_of_a_value_is_searched() {
    let secret = format!("ghp_{}", random(ALNUM, 36, "value"));
    let value = serde_json::json!({"a": [{"b": format!("see {secret}")}, 1, null], "c": "plain"});
    let clean: Value = redact_value(value.clone());
    assert!(!clean.to_string().contains(&secret), "{clean}");
    assert_eq!((&clean["a"][1], &clean["c"]), (&value["a"][1], &value["c"]));
}

#[test]
fn a_stream_is_cleaned_across_its_pieces() {
    let token = format!("ghp_{}", random(ALNUM, 36, "stream"));
    let key = pem("OPENSSH ");
    let filler = "a line of an agent's output, as there are many\n".repeat(PIECE / 47);
    // The key begins in one chunk and ends in the next.
    let text = format!("{filler}{key}\n{filler}{token}\nend without a line end");
    let mut clean = Vec::new();
    assert!(copy(&mut BufReader::new(text.as_bytes()), &mut clean).expect("memory does not fail"));
    let clean = String::from_utf8(clean).expect("text stays text");
    assert_eq!(clean, redact(&text));
    assert!(!clean.contains(&token) && !clean.contains("PRIVATE KEY-----"));
    assert_eq!(clean.lines().count(), text.lines().count());
    let mut same = Vec::new();
    assert!(
        !copy(&mut BufReader::new(filler.as_bytes()), &mut same).expect("memory does not fail")
    );
    assert_eq!(same, filler.as_bytes());
    let mut long = Vec::new();
    let line = "x".repeat(3 * PIECE);
    assert!(!copy(&mut BufReader::new(line.as_bytes()), &mut long).expect("memory does not fail"));
    assert_eq!(long, line.as_bytes());
}

#[test]
fn keys_of_models_clouds_and_tools_are_replaced() {
    const BOTH: &str = "abcdefghijklmnopqrstuvwxyz0123456789";
    let rows = [
        (
            "anthropic-api-key",
            "ANTHROPIC_API_KEY=\"",
            format!("sk-ant-api03-{}AA", random(ALNUM, 93, "1")),
            "\"",
        ),
        (
            "anthropic-admin-api-key",
            "x ",
            format!("sk-ant-admin01-{}AA", random(ALNUM, 93, "2")),
            "",
        ),
        (
            "aws-amazon-bedrock-api-key-long-lived",
            "k=",
            format!("ABSK{}", random(ALNUM, 128, "3")),
            "",
        ),
        (
            "aws-amazon-bedrock-api-key-short-lived",
            "",
            "bedrock-api-key-YmVkcm9jay5hbWF6b25hd3MuY29t".to_owned(),
            "",
        ),
        (
            "artifactory-api-key",
            "x ",
            format!("AKCp{}", random(ALNUM, 69, "4")),
            "",
        ),
        (
            "artifactory-reference-token",
            "x ",
            format!("cmVmd{}", random(ALNUM, 59, "5")),
            "",
        ),
        (
            "airtable-personnal-access-token",
            "airtable: ",
            format!("pat{}.{}", random(ALNUM, 14, "6"), random(HEX, 64, "6")),
            "",
        ),
        (
            "looker-client-id",
            "looker_id = '",
            random(BOTH, 20, "7"),
            "'",
        ),
        (
            "looker-client-secret",
            "looker_s = '",
            random(BOTH, 24, "8"),
            "'",
        ),
        (
            "url-password",
            "postgres://shop:",
            "p%40ss-w0rd!".to_owned(),
            "@db.example/shop",
        ),
        (
            "url-password",
            "git clone https://user:",
            "hunter2".to_owned(),
            "@example.org/a.git",
        ),
        (
            "url-token",
            "https://example.org/a?x=1&access_token=",
            random(ALNUM, 20, "9"),
            "&y=2",
        ),
    ];
    for (rule, before, secret, after) in rows {
        let line = format!("{before}{secret}{after}");
        let clean = redact(&line);
        assert!(!clean.contains(&secret), "{rule}: {clean}");
        assert!(
            clean.contains("[secret:") && clean.starts_with(before) && clean.ends_with(after),
            "{rule}: {clean}"
        );
        assert_eq!(redact(&clean), clean);
    }
    for none in [
        "http://localhost:8080/a@b",
        "https://example.org/?page=2&key=id",
        "postgres://$USER:$PASS@db/x",
        "a:b@c",
    ] {
        assert_eq!(redact(none), none);
    }
}

#[test]
fn a_key_is_replaced_wherever_it_ends_in_prose() {
    let keys = [
        format!("sk-ant-api03-{}AA", random(ALNUM, 93, "prose")),
        format!("AIza{}", random(ALNUM, 35, "prose ends")),
        format!(
            "npm_{}",
            random("abcdefghijklmnopqrstuvwxyz0123456789", 36, "prose")
        ),
        format!("hf_{}", random(LOWER, 34, "prose")),
        format!("sk_live_{}", random(ALNUM, 24, "prose")),
    ];
    for key in keys {
        for (before, after) in [
            ("The key ", "."),
            ("(", ")"),
            ("see ", ", which"),
            ("**", "**"),
            ("", ".py"),
            ("a/", "/b"),
            ("<", ">"),
            ("[", "]"),
        ] {
            let text = format!("{before}{key}{after}");
            let clean = redact(&text);
            assert!(!clean.contains(&key), "{text}");
            assert!(
                clean.starts_with(before) && clean.ends_with(after),
                "{clean}"
            );
        }
    }
}
