//! The command of an agent without a program: the address of a model's server, and perhaps the name of the environment
//! variable that holds the key.

use std::fmt;

use serde::{Deserialize, Serialize};

use glee_model::domain::{Advice, Role};
use glee_system::uri;

/// The form of a server's requests and answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum WireForm {
    OpenAi,
    Anthropic,
    Gemini,
}

struct Vendor {
    prefix: &'static str,
    form: WireForm,
    /// The address that a prefix alone means.
    url: &'static str,
    key: Option<&'static str>,
}

const VENDORS: [Vendor; 4] = [
    Vendor {
        prefix: "openai:",
        form: WireForm::OpenAi,
        url: "https://api.openai.com/v1",
        key: Some("OPENAI_API_KEY"),
    },
    Vendor {
        prefix: "anthropic:",
        form: WireForm::Anthropic,
        url: "https://api.anthropic.com/v1",
        key: Some("ANTHROPIC_API_KEY"),
    },
    Vendor {
        prefix: "gemini:",
        form: WireForm::Gemini,
        url: "https://generativelanguage.googleapis.com/v1beta",
        key: Some("GEMINI_API_KEY"),
    },
    Vendor {
        prefix: "ollama:",
        form: WireForm::OpenAi,
        url: "http://127.0.0.1:11434/v1",
        key: None,
    },
];

/// The schemes of an address, of which the first sends a key in clear.
const SCHEMES: [&str; 2] = ["http://", "https://"];

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelAddress {
    pub form: WireForm,
    /// The address before `/chat/completions`, `/messages` or `/models`, without `/` at its end.
    pub url: String,
    /// The environment variable that holds the key.
    pub key: Option<String>,
    /// Whether the server is not asked while the variable is not set.
    pub needs_key: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ModelAddressError {
    #[error("`{0}` is not the address of a server")]
    Malformed(String),
    #[error("the address of `{0}` contains a user name or a password")]
    Login(String),
    #[error("the key in `{key}` would cross the network in clear to {host}")]
    Clear { key: String, host: String },
    #[error("`{0}` is not the name of an environment variable")]
    NotAVariable(String),
    #[error("`{0}` is more than an address and the name of a variable")]
    TooLong(String),
    #[error("a model without a program changes no files and cannot be a {0}")]
    Changes(Role),
    #[error("the server at `{0}` is not told which model to use")]
    NoModel(String),
}

impl Advice for ModelAddressError {
    fn hint(&self) -> Option<String> {
        Some(match self {
            Self::Malformed(_) => {
                "write an address such as `http://127.0.0.1:11434/v1`, or one of the prefixes `openai:`, `anthropic:`, \
                 `gemini:` and `ollama:`, alone or before an address"
                    .to_owned()
            }
            Self::Login(_) | Self::NotAVariable(_) | Self::TooLong(_) => {
                "put the key into an environment variable, and write the name of the variable after the address"
                    .to_owned()
            }
            Self::Clear { .. } => "use an address with `https://`".to_owned(),
            Self::Changes(role) => {
                format!("connect a program instead: `glee connect <agent> --role {role}`")
            }
            Self::NoModel(_) => {
                "name the model: `--model <name>`, or the key `model` of the agent".to_owned()
            }
        })
    }
}

/// Whether the first word of a command is an address, or a vendor's prefix.
pub fn is_address(word: &str) -> bool {
    SCHEMES.iter().any(|scheme| word.starts_with(scheme)) || vendor(word).is_some()
}

/// Splits the model from a vendor's prefix: `ollama:qwen3` is the model `qwen3` of `ollama:`.
pub fn split_model(word: &str) -> Option<(&'static str, &str)> {
    let (vendor, rest) = vendor(word)?;
    let is_model = !rest.is_empty() && !rest.contains("://");
    is_model.then_some((vendor.prefix, rest))
}

fn vendor(word: &str) -> Option<(&'static Vendor, &str)> {
    VENDORS
        .iter()
        .find_map(|vendor| Some((vendor, word.strip_prefix(vendor.prefix)?)))
}

impl ModelAddress {
    /// Reads a command whose first word is an address.
    pub fn parse(command: &[String]) -> Result<Self, ModelAddressError> {
        let (word, key) = match command {
            [word] => (word, None),
            [word, key] => (word, Some(key)),
            _ => return Err(ModelAddressError::TooLong(command.join(" "))),
        };
        let (vendor, given) = match vendor(word) {
            Some((vendor, rest)) => (Some(vendor), rest),
            None => (None, word.as_str()),
        };
        // Other servers than the vendor's own speak its form, and most of them want no key.
        let is_vendors_own = given.is_empty();
        let url = match vendor {
            Some(vendor) if is_vendors_own => vendor.url.to_owned(),
            _ => with_path(given, vendor)?,
        };
        let host = uri::host(&url).ok_or_else(|| ModelAddressError::Malformed(word.clone()))?;
        let is_clear = url.starts_with(SCHEMES[0]) && !uri::is_loopback(host);
        if let Some(key) = key {
            let is_name = key.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
                && !key.starts_with(|c: char| c.is_ascii_digit());
            // A key that was typed in place of its variable's name is not repeated.
            if !is_name || key.is_empty() {
                let shown = key.chars().take(4).collect::<String>() + "...";
                return Err(ModelAddressError::NotAVariable(shown));
            }
            if is_clear {
                return Err(ModelAddressError::Clear {
                    key: key.clone(),
                    host: host.to_owned(),
                });
            }
        }
        let usual = vendor.and_then(|vendor| vendor.key).filter(|_| !is_clear);
        Ok(Self {
            form: vendor.map_or(WireForm::OpenAi, |vendor| vendor.form),
            needs_key: key.is_some() || is_vendors_own && usual.is_some(),
            key: key.cloned().or(usual.map(ToOwned::to_owned)),
            url,
        })
    }

    /// Checks a whole agent.
    pub fn check(
        command: &[String],
        role: Role,
        model: Option<&str>,
    ) -> Result<(), ModelAddressError> {
        let address = Self::parse(command)?;
        if role == Role::Coder {
            return Err(ModelAddressError::Changes(role));
        }
        if model.is_none() {
            return Err(ModelAddressError::NoModel(address.to_string()));
        }
        Ok(())
    }
}

/// Shows the host and the port.
impl fmt::Display for ModelAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rest = self.url.split_once("://").map_or("", |(_, rest)| rest);
        f.write_str(rest.split('/').next().unwrap_or_default())
    }
}

/// An address without a path gets the usual path of its form.
fn with_path(given: &str, vendor: Option<&Vendor>) -> Result<String, ModelAddressError> {
    let malformed = || ModelAddressError::Malformed(given.to_owned());
    let rest = SCHEMES
        .iter()
        .find_map(|scheme| given.strip_prefix(scheme))
        .ok_or_else(malformed)?;
    let authority = rest.split('/').next().unwrap_or_default();
    if let Some((_, host)) = authority.rsplit_once('@') {
        return Err(ModelAddressError::Login(host.to_owned()));
    }
    let is_plain = |c: char| c.is_ascii_graphic() && !"?#\\\"'`<>{}|^".contains(c);
    if authority.is_empty() || !given.chars().all(is_plain) {
        return Err(malformed());
    }
    let url = given.trim_end_matches('/');
    if url.ends_with(authority) && !rest.trim_end_matches('/').contains('/') {
        let usual = vendor.map_or(WireForm::OpenAi, |vendor| vendor.form);
        let path = match usual {
            WireForm::OpenAi | WireForm::Anthropic => "/v1",
            WireForm::Gemini => "/v1beta",
        };
        return Ok(format!("{url}{path}"));
    }
    Ok(url.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(command: &str) -> Result<(WireForm, String, String), String> {
        let words: Vec<String> = command.split(' ').map(ToOwned::to_owned).collect();
        let address = ModelAddress::parse(&words).map_err(|error| error.to_string())?;
        let key = address.key.unwrap_or_else(|| "-".to_owned());
        let needs = if address.needs_key { "!" } else { "" };
        Ok((address.form, address.url, key + needs))
    }

    #[test]
    fn an_address_is_a_form_a_server_and_the_name_of_a_key() {
        use WireForm::{Anthropic, Gemini, OpenAi};
        for (command, form, url, key) in [
            (
                "http://127.0.0.1:11434/v1",
                OpenAi,
                "http://127.0.0.1:11434/v1",
                "-",
            ),
            (
                "http://127.0.0.1:11434",
                OpenAi,
                "http://127.0.0.1:11434/v1",
                "-",
            ),
            ("http://[::1]:80/", OpenAi, "http://[::1]:80/v1", "-"),
            (
                "http://gpu.lan:8000/v1/",
                OpenAi,
                "http://gpu.lan:8000/v1",
                "-",
            ),
            (
                "https://gw.example/a/b KEY_2",
                OpenAi,
                "https://gw.example/a/b",
                "KEY_2!",
            ),
            (
                "openai:",
                OpenAi,
                "https://api.openai.com/v1",
                "OPENAI_API_KEY!",
            ),
            ("openai: MINE", OpenAi, "https://api.openai.com/v1", "MINE!"),
            (
                "anthropic:",
                Anthropic,
                "https://api.anthropic.com/v1",
                "ANTHROPIC_API_KEY!",
            ),
            (
                "anthropic:http://127.0.0.1:9",
                Anthropic,
                "http://127.0.0.1:9/v1",
                "ANTHROPIC_API_KEY",
            ),
            (
                "anthropic:http://gw.lan/x",
                Anthropic,
                "http://gw.lan/x",
                "-",
            ),
            (
                "gemini:https://gw.example",
                Gemini,
                "https://gw.example/v1beta",
                "GEMINI_API_KEY",
            ),
            ("ollama:", OpenAi, "http://127.0.0.1:11434/v1", "-"),
        ] {
            assert_eq!(
                parsed(command),
                Ok((form, url.to_owned(), key.to_owned())),
                "{command}"
            );
        }
    }

    #[test]
    fn what_is_no_address_or_would_show_a_key_is_refused() {
        for (command, message) in [
            ("http://", "`http://` is not the address of a server"),
            (
                "http://h/?k=v",
                "`http://h/?k=v` is not the address of a server",
            ),
            ("openai:gpt-5", "`gpt-5` is not the address of a server"),
            (
                "https://me:secret@gw.example/v1",
                "the address of `gw.example` contains a user name or a password",
            ),
            (
                "http://gpu.lan:8000/v1 KEY",
                "the key in `KEY` would cross the network in clear to gpu.lan",
            ),
            (
                "https://gw.example sk-ant-1234567",
                "`sk-a...` is not the name of an environment variable",
            ),
            (
                "ollama: A B",
                "`ollama: A B` is more than an address and the name of a variable",
            ),
        ] {
            assert_eq!(parsed(command).err().as_deref(), Some(message), "{command}");
        }
    }
}
