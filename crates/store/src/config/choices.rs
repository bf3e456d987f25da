//! Declares the words among which a setting chooses. Each enum is the value of one key, in lower case; its default is
//! that of the key. For a key that a project's file may only make stricter, a later word is a stricter one.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use glee_model::domain::Route;

macro_rules! choices {
    ($(pub enum $name:ident { $($words:tt)* })*) => {
        $(
            #[derive(
                Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
            )]
            #[serde(rename_all = "lowercase")]
            pub enum $name { $($words)* }
        )*
    };
}

choices! {
    pub enum Demonstrations {
        /// No test is asked for or run.
        Off,
        /// An agent may give a test.
        #[default]
        Offered,
        /// An agent may give a test, and a bug that none shows does not block.
        Required,
    }

    pub enum Compare {
        /// At most one call of each kind in a round, and none if the rules decide.
        #[default]
        Auto,
        /// No call is made. Findings that may be the same stay side by side.
        Off,
    }

    pub enum Skipped {
        /// The report lists the files that could not be reviewed, and says so in its first line.
        Note,
        /// The run ends with exit code 4 if a file is too large or unreadable. Binary and generated files are only listed.
        #[default]
        Auto,
        /// The run ends with exit code 4 for every file that could not be reviewed.
        Fail,
    }

    pub enum OlderFindings {
        /// It is only counted, and the coder does not receive it.
        Hide,
        /// It is shown and optional.
        #[default]
        Show,
        /// It is mandatory like any other.
        Block,
    }

    pub enum DebateRounds {
        /// No debate.
        #[default]
        Off,
        /// Three rounds of debate about mandatory findings, and about findings that only one reviewer raised.
        Auto,
        /// Two rounds about all findings.
        #[serde(rename = "2")]
        Two,
        /// Three rounds about all findings.
        #[serde(rename = "3")]
        Three,
    }

    pub enum FixScope {
        /// All files.
        #[default]
        Any,
        /// The files that a finding names about which the coder was asked: in its places, its evidence, its demonstration.
        Findings,
    }

    pub enum Validate {
        /// Mandatory findings of a single reviewer go to the coder without a decision of the judge.
        #[default]
        Off,
        /// The judge decides mandatory findings of a single reviewer before the coder sees the findings.
        Judge,
    }

    pub enum Escalation {
        /// A person decides the dispute.
        #[default]
        Human,
        /// The finding is discarded.
        Discard,
    }

    pub enum Sandbox {
        /// No sandbox. Even without a sandbox, Glee compares the tree before and after each call of a reviewer or
        /// judge, to detect writes.
        Off,
        /// Reviewers and judges run in a sandbox if the system supports sandboxes.
        #[default]
        Auto,
        /// Reviewers and judges always run in a sandbox. If the system supports no sandbox, Glee calls no reviewer
        /// and no judge.
        Required,
    }

    pub enum Pause {
        /// Glee sends signals that suspend and resume the processes of the agents.
        #[default]
        Signal,
        /// Glee writes a message to the stdin of each agent.
        Message,
        /// Glee does not pause the agents.
        None,
    }

    pub enum TerminalNotice {
        /// Glee sends OSC 777 if the terminal is known to support this sequence. In `linux` and `dumb` terminals,
        /// nothing is sent. In all other terminals, OSC 9 is sent.
        #[default]
        Auto,
        /// The control sequence OSC 9.
        Osc9,
        /// The control sequence OSC 777.
        Osc777,
        /// The terminal's bell.
        Bell,
        /// Nothing.
        Off,
    }

    pub enum PagerUse {
        /// Reports on a terminal are shown in a pager.
        #[default]
        Auto,
        /// No pager.
        Off,
    }

    pub enum PrMode {
        /// The check on a pull request never fails.
        #[default]
        Warn,
        /// The check on a pull request fails if a mandatory finding is open or a dispute waits for a person.
        Enforce,
    }

    pub enum CommentOn {
        /// All open findings.
        #[default]
        All,
        /// Open mandatory findings.
        Mandatory,
    }
}

impl From<Escalation> for Route {
    fn from(escalation: Escalation) -> Self {
        match escalation {
            Escalation::Human => Self::Human,
            Escalation::Discard => Self::Discard,
        }
    }
}
