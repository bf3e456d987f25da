//! The templates of HTML pages, and the style sheet, the script and the content security policy of these pages.
//!
//! The templates escape every value. Only functions of this file and of `highlight` create markup from a text,
//! and these functions first escape the text.

use std::fmt::Write as _;
use std::sync::LazyLock;

use minijinja::syntax::SyntaxConfig;
use minijinja::value::{Serde, Value};
use minijinja::{Environment, HtmlEscape, UndefinedBehavior};
use serde::Serialize;

use crate::cli::style::{self, Color};
use glee_model::domain::{RunId, Severity, Tag};
use glee_protocol::{secrets, text::printable};

pub(crate) const STYLE: &str = include_str!("assets/style.css");
pub(crate) const SCRIPT: &str = include_str!("assets/report.js");

const TEMPLATES: [(&str, &str); 10] = [
    ("agents.html", include_str!("templates/agents.html")),
    ("base.html", include_str!("templates/base.html")),
    ("dispute.html", include_str!("templates/dispute.html")),
    ("finding.html", include_str!("templates/finding.html")),
    ("macros.html", include_str!("templates/macros.html")),
    ("measures.html", include_str!("templates/measures.html")),
    ("proof.html", include_str!("templates/proof.html")),
    ("report.html", include_str!("templates/report.html")),
    ("run.html", include_str!("templates/run.html")),
    ("statistics.html", include_str!("templates/statistics.html")),
];

pub(crate) static ENVIRONMENT: LazyLock<Environment<'static>> = LazyLock::new(environment);

/// Returns a template environment with the templates of the HTML report. `glee serve` adds further templates to
/// the environment.
pub(crate) fn environment() -> Environment<'static> {
    let mut environment = Environment::new();
    // Outcomes leave out empty fields, so a template may ask whether a field exists.
    environment.set_undefined_behavior(UndefinedBehavior::SemiStrict);
    environment.set_formatter(|out, state, value| match value.as_str() {
        Some(text) if !value.is_safe() => {
            minijinja::escape_formatter(out, state, &printable::block(text).into())
        }
        _ => minijinja::escape_formatter(out, state, value),
    });
    let mut syntax = SyntaxConfig::builder();
    syntax.trim_blocks(true).lstrip_blocks(true);
    environment.set_syntax(syntax.build().expect("the syntax is the default syntax"));
    environment.add_filter("prose", |text: &str| {
        Value::from_safe_string(prose(&printable::block(text)))
    });
    environment.add_filter("inline", |text: &str| {
        Value::from_safe_string(inline(&printable::block(text)))
    });
    environment.add_filter("diff", diff);
    environment.add_filter("tone", |tag: Option<String>| severity_tone(tag.as_deref()));
    environment.add_filter("count", |number: u64, noun: &str| {
        style::count(number, noun)
    });
    environment.add_filter("thousands", style::thousands);
    environment.add_filter("duration", style::duration);
    environment.add_filter("dollars", style::dollars);
    environment.add_filter("redacted", |text: &str| secrets::redact(text).into_owned());
    environment.add_filter("run", |run: String| RunId(run).short().to_owned());
    add_templates(&mut environment, &TEMPLATES);
    environment
}

pub(crate) fn add_templates(
    environment: &mut Environment<'static>,
    templates: &[(&'static str, &'static str)],
) {
    for (name, source) in templates {
        environment
            .add_template(name, source)
            .expect("a template of the program is well-formed");
    }
}

pub(crate) fn value<T: Serialize>(value: &T) -> Value {
    Value::from(Serde(value))
}

/// Makes the values of a template from names and values that have a form in JSON, as `minijinja::context!` does.
macro_rules! values {
    (@one $key:ident) => { $crate::cli::report::html::environment::value(&$key) };
    (@one $key:ident $value:expr) => { $crate::cli::report::html::environment::value(&$value) };
    ($($key:ident $(=> $value:expr)?),* $(, ..$more:expr)? $(,)?) => {
        minijinja::context! {
            $($key => $crate::cli::report::html::environment::values!(@one $key $($value)?)),*
            $(, ..$more)?
        }
    };
}
pub(crate) use values;

pub(crate) fn render(environment: &Environment<'_>, template: &str, values: Value) -> String {
    let template = environment
        .get_template(template)
        .expect("the template is part of the program");
    template
        .render(values)
        .expect("a template of the program uses values that exist")
}

/// The style sheet and the script of a page, either as texts or as addresses.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Assets {
    /// The content security policy that the page contains. `None` if a server sends this policy as an HTTP header.
    policy: Option<String>,
    /// The nonce with which the security policy permits the inline style sheet and script. `None` if the page
    /// loads both from separate files.
    nonce: Option<String>,
    style: Value,
    script: Value,
    style_url: &'static str,
    script_url: &'static str,
}

impl Assets {
    /// Returns the assets of a page that contains its style sheet and its script. The nonce must be a value that
    /// authors of texts on the page cannot know.
    pub(crate) fn inline(nonce: &str) -> Self {
        let policy = format!(
            "default-src 'none'; style-src 'nonce-{nonce}'; script-src 'nonce-{nonce}'; base-uri 'none'; \
             form-action 'none'"
        );
        Self {
            policy: Some(policy),
            nonce: Some(nonce.to_owned()),
            style: Value::from_safe_string(STYLE.to_owned()),
            script: Value::from_safe_string(SCRIPT.to_owned()),
            style_url: "",
            script_url: "",
        }
    }

    /// Returns the assets of a page that loads its style sheet and its script from the given addresses of a
    /// server.
    pub(crate) fn served(style_url: &'static str, script_url: &'static str) -> Self {
        Self {
            policy: None,
            nonce: None,
            style: Value::from(""),
            script: Value::from(""),
            style_url,
            script_url,
        }
    }
}

/// Returns the nonce of a page. The nonce is a hash of all texts on the page. An agent that writes one of these
/// texts therefore cannot predict the nonce.
pub(crate) fn nonce<T: Serialize>(page: &T) -> String {
    let content = serde_json::to_vec(page).expect("a page has string keys only and serializes");
    blake3::hash(&content).to_hex()[..32].to_owned()
}

/// Escapes a text and marks the parts between backticks as code.
pub(crate) fn inline(text: &str) -> String {
    let mut html = String::with_capacity(text.len() + 16);
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('`') {
        let Some((code, left)) = after.split_once('`').filter(|(code, _)| !code.is_empty()) else {
            break;
        };
        let _ = write!(
            html,
            "{}<code>{}</code>",
            HtmlEscape(before),
            HtmlEscape(code)
        );
        rest = left;
    }
    let _ = write!(html, "{}", HtmlEscape(rest));
    html
}

fn end(html: &mut String, paragraph: &mut Vec<&str>) {
    let lines = std::mem::take(paragraph).join("\n");
    if !lines.trim().is_empty() {
        let _ = write!(html, "<p>{}</p>", inline(lines.trim_end()));
    }
}

/// Escapes a text of several paragraphs. A line of three backticks begins or ends a code block. Text between
/// single backticks becomes inline code.
pub(crate) fn prose(text: &str) -> String {
    let mut html = String::with_capacity(text.len() + 64);
    let mut paragraph: Vec<&str> = Vec::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        if line.trim_start().starts_with("```") {
            end(&mut html, &mut paragraph);
            let code: Vec<&str> = lines
                .by_ref()
                .take_while(|line| !line.trim_start().starts_with("```"))
                .collect();
            let _ = write!(
                html,
                "<pre tabindex=\"0\"><code>{}</code></pre>",
                HtmlEscape(&code.join("\n"))
            );
        } else if line.trim().is_empty() {
            end(&mut html, &mut paragraph);
        } else {
            paragraph.push(line);
        }
    }
    end(&mut html, &mut paragraph);
    html
}

/// Returns the CSS class of a colour.
pub(crate) fn tone(color: Color) -> &'static str {
    match color {
        Color::Good => "good",
        Color::Warn => "warn",
        Color::Bad => "bad",
        Color::Minor | Color::Plain | Color::Strong | Color::Faint | Color::Key => "minor",
    }
}

/// Returns the CSS class of a severity.
fn severity_tone(tag: Option<&str>) -> &'static str {
    let severity = Severity {
        tag: tag.and_then(Tag::parse),
        raw: String::new(),
    };
    tone(Color::of(&severity))
}

/// Escapes the lines of a unified diff. Each line gets a CSS class: added line, removed line, head of a hunk, or
/// other line.
pub(crate) fn diff(text: &str) -> Value {
    let mut html = String::new();
    for line in printable::block(text).lines() {
        let class = match line.as_bytes().first() {
            Some(b'+') => "d a",
            Some(b'-') => "d r",
            Some(b'@') => "d h",
            _ => "d",
        };
        let _ = write!(
            html,
            "<span class=\"{class}\">{}\n</span>",
            HtmlEscape(line)
        );
    }
    Value::from_safe_string(html)
}

#[cfg(test)]
mod unit_tests {
    use super::*;

    #[test]
    fn code_in_a_text_is_marked_and_everything_is_escaped() {
        assert_eq!(inline("`a<b` and `c"), "<code>a&lt;b</code> and `c");
        assert_eq!(inline("a `` b"), "a `` b");
        assert_eq!(
            prose("one\ntwo\n\n```py\nif a < b:\n\n    x\n```\n\nthree"),
            "<p>one\ntwo</p><pre tabindex=\"0\"><code>if a &lt; b:\n\n    x</code></pre><p>three</p>"
        );
        assert_eq!(
            prose("```\n<script>"),
            "<pre tabindex=\"0\"><code>&lt;script&gt;</code></pre>"
        );
        assert_eq!(
            diff("@@ 1\n-<a>").to_string(),
            "<span class=\"d h\">@@ 1\n</span><span class=\"d r\">-&lt;a&gt;\n</span>"
        );
    }
}
