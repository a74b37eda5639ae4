//! Kubernetes label selectors: `matchLabels`, `matchExpressions` and the text form of `kubectl -l`.

use std::{collections::BTreeMap, fmt, str::FromStr};

use serde::Deserialize;

mod parse;

/// Requirements on labels that must all hold. Without requirements everything matches.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LabelSelector {
    requirements: Vec<Requirement>,
}

/// One requirement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Requirement {
    key: String,
    condition: Condition,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Condition {
    In(Vec<String>),
    NotIn(Vec<String>),
    Exists,
    DoesNotExist,
}

/// An entry of `matchExpressions`.
#[derive(Clone, Debug, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Expression {
    /// The label.
    pub key: String,
    /// What must hold for it.
    pub operator: ExpressionOperator,
    /// The values of `In` and `NotIn`; empty for the others.
    #[serde(default)]
    pub values: Vec<String>,
}

/// What must hold for a label.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum ExpressionOperator {
    /// The label is there with one of the values.
    In,
    /// The label has none of the values, or is not there.
    NotIn,
    /// The label is there.
    Exists,
    /// The label is not there.
    DoesNotExist,
}

/// Why a selector cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidSelector(String);

impl fmt::Display for InvalidSelector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for InvalidSelector {}

impl LabelSelector {
    /// Adds `key=value`.
    pub fn require_equal(&mut self, key: String, value: String) {
        self.requirements.push(Requirement { key, condition: Condition::In(vec![value]) });
    }

    /// Adds an entry of `matchExpressions`.
    ///
    /// # Errors
    /// When `In` or `NotIn` has no values, another operator has some, or the key is empty.
    pub fn require(&mut self, expression: Expression) -> Result<(), InvalidSelector> {
        let Expression { key, operator, values } = expression;
        if key.is_empty() {
            return Err(InvalidSelector("key: must name a label".to_owned()));
        }
        let takes_values = matches!(operator, ExpressionOperator::In | ExpressionOperator::NotIn);
        if takes_values == values.is_empty() {
            let rule = if takes_values { "at least one value" } else { "no values" };
            return Err(InvalidSelector(format!("values: {operator:?} takes {rule}")));
        }
        let condition = match operator {
            ExpressionOperator::In => Condition::In(values),
            ExpressionOperator::NotIn => Condition::NotIn(values),
            ExpressionOperator::Exists => Condition::Exists,
            ExpressionOperator::DoesNotExist => Condition::DoesNotExist,
        };
        self.requirements.push(Requirement { key, condition });
        Ok(())
    }

    /// The labels that the requirements are about, in order.
    pub fn keys(&self) -> impl Iterator<Item = &str> {
        self.requirements.iter().map(|requirement| requirement.key.as_str())
    }

    /// The first requirement that `labels` do not meet.
    pub fn first_unmet(&self, labels: &BTreeMap<String, String>) -> Option<&Requirement> {
        self.requirements.iter().find(|requirement| !requirement.met(labels))
    }
}

impl Requirement {
    fn met(&self, labels: &BTreeMap<String, String>) -> bool {
        let value = labels.get(&self.key);
        match &self.condition {
            Condition::In(values) => value.is_some_and(|value| values.contains(value)),
            Condition::NotIn(values) => value.is_none_or(|value| !values.contains(value)),
            Condition::Exists => value.is_some(),
            Condition::DoesNotExist => value.is_none(),
        }
    }
}

impl fmt::Display for Requirement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let key = &self.key;
        match &self.condition {
            Condition::In(values) => match values.as_slice() {
                [value] => write!(f, "{key}={value}"),
                values => write!(f, "{key} in ({})", values.join(",")),
            },
            Condition::NotIn(values) => match values.as_slice() {
                [value] => write!(f, "{key}!={value}"),
                values => write!(f, "{key} notin ({})", values.join(",")),
            },
            Condition::Exists => write!(f, "{key}"),
            Condition::DoesNotExist => write!(f, "!{key}"),
        }
    }
}

impl fmt::Display for LabelSelector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, requirement) in self.requirements.iter().enumerate() {
            write!(f, "{}{requirement}", if index == 0 { "" } else { "," })?;
        }
        Ok(())
    }
}

impl FromStr for LabelSelector {
    type Err = InvalidSelector;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        parse::parse(text).map(|requirements| Self { requirements })
    }
}

#[cfg(test)]
mod tests;
