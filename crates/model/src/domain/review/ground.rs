//! The grounds of code: what the code of a file is for.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What the code of a file is for. A ruling about code on one ground does not bind code on another ground: what is
/// harmless in a test can be a defect in the product.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Ground {
    #[default]
    Product,
    Test,
    /// Examples and documentation.
    Example,
    /// Code of other projects that is kept in the tree.
    Vendored,
    Generated,
}

impl Ground {
    pub const ALL: [Self; 5] = [
        Self::Product,
        Self::Test,
        Self::Example,
        Self::Vendored,
        Self::Generated,
    ];

    /// For example `test code`.
    pub fn code(self) -> &'static str {
        match self {
            Self::Product => "product code",
            Self::Test => "test code",
            Self::Example => "example code",
            Self::Vendored => "vendored code",
            Self::Generated => "generated code",
        }
    }
}
