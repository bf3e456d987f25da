//! Restricts the prompt templates of a project to constructs whose cost is bounded.
//!
//! A template can test values, iterate over lists and print values. Glee rejects a template with an assignment,
//! a definition, a concatenation or a multiplication. A few lines with these operations can exhaust the memory,
//! and a failed allocation aborts the process. The type [`Capped`] limits the size of the output.

use std::io;
use std::time::{Duration, Instant};

use minijinja::{Environment, Error, ErrorKind, Value, filters, tests};

/// The maximum size of a rendered prompt, in bytes.
pub(crate) const LARGEST_PROMPT: usize = 16 << 20;

const LARGEST_VALUE: usize = 1 << 20;

const TIME_LIMIT: Duration = Duration::from_secs(1);

/// The maximum number of instructions that a template executes. A loop over a thousand findings executes about ten
/// thousand instructions.
pub(crate) const FUEL: u64 = 500_000;

const TAGS: [&str; 6] = ["if", "elif", "else", "endif", "for", "endfor"];

pub(super) fn environment<'source>() -> Environment<'source> {
    let mut environment = Environment::empty();
    environment.add_filter("length", filters::length);
    environment.add_filter("first", filters::first);
    environment.add_filter("last", filters::last);
    environment.add_filter("join", join);
    environment.add_filter("trim", |text: String| {
        cut(&text, |text| text.trim().to_owned())
    });
    environment.add_filter("upper", |text: String| cut(&text, str::to_uppercase));
    environment.add_filter("lower", |text: String| cut(&text, str::to_lowercase));
    environment.add_test("defined", tests::is_defined);
    environment.add_test("undefined", tests::is_undefined);
    environment.add_test("none", tests::is_none);
    environment
}

fn too_large() -> Error {
    Error::new(
        ErrorKind::InvalidOperation,
        format!("a value of the template is larger than {LARGEST_VALUE} bytes"),
    )
}

fn cut(text: &str, change: impl FnOnce(&str) -> String) -> Result<String, Error> {
    if text.len() > LARGEST_VALUE {
        Err(too_large())
    } else {
        Ok(change(text))
    }
}

fn join(list: &Value, between: Option<String>) -> Result<String, Error> {
    let between = between.unwrap_or_default();
    let mut text = String::new();
    for item in list.try_iter()? {
        if !text.is_empty() {
            text.push_str(&between);
        }
        text.push_str(item.as_str().unwrap_or(&item.to_string()));
        if text.len() > LARGEST_VALUE {
            return Err(too_large());
        }
    }
    Ok(text)
}

/// Fails with the 1-based line and a description of the first rejected construct.
pub(super) fn check(source: &str) -> Result<(), (usize, String)> {
    let mut rest = source;
    while let Some(at) = rest
        .find("{{")
        .into_iter()
        .chain(rest.find("{%"))
        .chain(rest.find("{#"))
        .min()
    {
        let (kind, inside) = rest[at..].split_at(2);
        let line = source[..source.len() - rest.len() + at]
            .matches('\n')
            .count()
            + 1;
        rest = match kind {
            "{#" => inside.split_once("#}").map_or("", |(_, rest)| rest),
            _ => tag(kind, inside).map_err(|why| (line, why))?,
        };
    }
    Ok(())
}

fn tag<'a>(kind: &str, inside: &'a str) -> Result<&'a str, String> {
    let (end, sign) = if kind == "{{" {
        ("}}", '}')
    } else {
        ("%}", '%')
    };
    let body = inside.strip_prefix(['-', '+']).unwrap_or(inside);
    if kind == "{%" {
        let word: String = body
            .trim_start()
            .chars()
            .take_while(|c| c.is_alphanumeric() || *c == '_')
            .collect();
        if !TAGS.contains(&word.as_str()) {
            return Err(format!(
                "`{word}` is not available in a project's template, only {}",
                TAGS.join(", ")
            ));
        }
    }
    let mut quote = None;
    let mut word = String::new();
    let mut letters = body.char_indices();
    while let Some((at, letter)) = letters.next() {
        if let Some(open) = quote {
            match letter {
                '\\' => drop(letters.next()),
                _ if letter == open => quote = None,
                _ => {}
            }
            continue;
        }
        if letter.is_alphanumeric() || letter == '_' {
            word.push(letter);
            continue;
        }
        if word == "recursive" {
            return Err("`recursive` is not available in a project's template".to_owned());
        }
        word.clear();
        match letter {
            '"' | '\'' => quote = Some(letter),
            _ if letter == sign && body[at..].starts_with(end) => return Ok(&body[at + 2..]),
            '+' if body[at + 1..].starts_with(end) => {}
            '~' | '+' | '*' | '{' | '}' => {
                return Err(format!(
                    "`{letter}` is not available in a project's template, because a template cannot compute values"
                ));
            }
            _ => {}
        }
    }
    // An unclosed tag is accepted here, because minijinja reports unclosed tags later.
    Ok("")
}

pub(crate) struct Capped {
    pub text: Vec<u8>,
    since: Instant,
    /// A description of the exceeded limit. `None` if no limit was exceeded.
    pub full: Option<String>,
}

impl Capped {
    pub(super) fn new() -> Self {
        Self {
            text: Vec::new(),
            since: Instant::now(),
            full: None,
        }
    }
}

impl io::Write for Capped {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.text.len() + bytes.len() > LARGEST_PROMPT {
            self.full = Some(format!(
                "the template renders a prompt of more than {LARGEST_PROMPT} bytes"
            ));
        } else if self.since.elapsed() > TIME_LIMIT {
            self.full = Some(format!(
                "the template takes longer than {} s",
                TIME_LIMIT.as_secs()
            ));
        } else {
            self.text.extend_from_slice(bytes);
            return Ok(bytes.len());
        }
        Err(io::Error::other("full"))
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod unit {
    use super::check;

    #[test]
    fn only_what_is_bounded_is_available() {
        for good in [
            "plain { text } % } ~ + *",
            "{{ a }}{{- a.b[0] -}}{% if a == 'x ~ y * {' and not b %}x{% elif c %}{% else %}{% endif %}",
            "{%- for x in y -%}{{ loop.index }}{{ x|join(\", \") }}{%+ endfor +%}",
            "{# {% set x = 1 %} #}",
            "{{ \"a \\\" ~ b\" }}",
        ] {
            assert_eq!(check(good), Ok(()), "{good}");
        }
        for bad in [
            "{% set x = a %}",
            "{%- set x %}y{% endset %}",
            "{% macro m() %}{% endmacro %}",
            "{% raw %}{{ \" {% endraw %}",
            "{% include 'x' %}",
            "{% block x %}{% endblock %}",
            "{% for x in y recursive %}{% endfor %}",
            "{{ a ~ a }}",
            "{{ a + a }}",
            "{{ 'a' * 9 }}",
            "{{ {'a': {'b': 1}} ~ a }}",
            "{{ 'it' ~ a }}",
            "{# #}{{ 1 }}{{ a ~ a }}",
            "{% filter upper %}a{% endfilter %}",
            "{% call m() %}{% endcall %}",
            "{% with a = b %}{% endwith %}",
            "{% do a %}",
            "{%\nset x = 1 %}",
        ] {
            assert!(check(bad).is_err(), "{bad}");
        }
        assert_eq!(
            check("a\n{{ b }}\n{{ c ~ d }}").map_err(|(line, _)| line),
            Err(3)
        );
    }
}
