//! The optimizer: the update rule with its settings, weight decay, gradient clipping, and groups of parameters that differ.

use crate::schema::{Field, Item, Key, Kind, Named, fill, optional};
use crate::table;
use halite_support::{Diagnostic, Diagnostics, Result, codes};
use indexmap::IndexMap;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// The update of the weights. In TOML `[optimizer.<rule>]` with the rule's own settings, and beside it `ema` and
/// `[[optimizer.group]]`.
///
/// ```
/// use halite_recipe::{Clip, Optimizer};
///
/// let optimizer = Optimizer::new("adamw", 1e-3).with("eps", 1e-6).weight_decay(0.1).clip_norm(1.0);
/// assert_eq!((optimizer.lr, optimizer.clip), (1e-3, Some(Clip::Norm(1.0))));
/// assert_eq!(optimizer.rule.settings["eps"].as_float(), Some(1e-6));
/// ```
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(try_from = "OptimizerTable", into = "OptimizerTable")]
pub struct Optimizer {
    /// The update rule.
    pub rule: Rule,
    /// Peak learning rate.
    pub lr: f64,
    /// Weight decay, multiplied by the learning rate.
    pub weight_decay: f64,
    /// Patterns (`*` matches any text) of parameters without decay; each must match one.
    pub no_decay: Vec<String>,
    /// The bound on the gradients; `None` does not clip them.
    pub clip: Option<Clip>,
    /// Parameters that are updated otherwise, each in at most one group.
    pub groups: Vec<Group>,
    /// Decay rate of an exponential moving average of the weights, greater than 0 and less than 1; `None` keeps none.
    pub ema: Option<f64>,
}

/// An update rule by name, one of those of `Extension::rules`.
#[derive(Clone, PartialEq, Debug)]
pub struct Rule {
    /// Its name in recipes, such as `adamw`.
    pub name: String,
    /// Its own settings; those that are left out have the rule's defaults, which are added where a recipe is read.
    pub settings: toml::Table,
}

/// A bound on the gradients of the mean over the batch.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Clip {
    /// The largest norm of all gradients together.
    Norm(f64),
    /// The largest norm of the gradients of each group; what is in no group is one too.
    GroupNorm(f64),
    /// The largest absolute value of each element.
    Value(f64),
}

/// Parameters that are updated otherwise than the rest.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(try_from = "GroupTable", into = "GroupTable")]
pub struct Group {
    /// Its name, which no other group has.
    pub name: String,
    /// Patterns (`*` matches any text) of its parameters.
    pub params: Vec<String>,
    /// Patterns of parameters that are left out of it.
    pub except: Vec<String>,
    /// Its update rule; `None` for that of the optimizer.
    pub rule: Option<Rule>,
    /// Multiplies the learning rate.
    pub lr_scale: f64,
    /// Its weight decay; `None` for that of the optimizer. Parameters of `no_decay` have none in any group.
    pub weight_decay: Option<f64>,
    /// Whether its gradients are clipped, and count in the norm by which others are.
    pub clip: bool,
    /// Whether its parameters stay as they are.
    pub frozen: bool,
}

impl Optimizer {
    /// A rule with its defaults at this peak learning rate, without decay and clipping.
    pub fn new(rule: &str, lr: f64) -> Self {
        let rule = Rule { name: rule.to_owned(), settings: toml::Table::new() };
        Self { rule, lr, weight_decay: 0.0, no_decay: Vec::new(), clip: None, groups: Vec::new(), ema: None }
    }

    /// The same with a setting of the rule's own.
    #[must_use]
    pub fn with(mut self, key: &str, value: impl Into<toml::Value>) -> Self {
        self.rule.settings.insert(key.to_owned(), value.into());
        self
    }

    /// The same with weight decay.
    #[must_use]
    pub fn weight_decay(self, weight_decay: f64) -> Self {
        Self { weight_decay, ..self }
    }

    /// The same with all gradients together clipped to this norm.
    #[must_use]
    pub fn clip_norm(self, norm: f64) -> Self {
        Self { clip: Some(Clip::Norm(norm)), ..self }
    }

    /// The group of this name.
    pub fn group(&self, name: &str) -> Option<&Group> {
        self.groups.iter().find(|group| group.name == name)
    }

    /// The update rule of a group, or of the parameters in none.
    pub fn rule_of<'r>(&'r self, group: Option<&'r Group>) -> &'r Rule {
        group.and_then(|group| group.rule.as_ref()).unwrap_or(&self.rule)
    }

    /// The path of the rule's table in a recipe.
    pub fn path(&self) -> String {
        format!("optimizer.{}", self.rule.name)
    }

    /// Every update rule that is named, with the path of its table in a recipe.
    pub fn rules(&self) -> impl Iterator<Item = (String, &Rule)> {
        let groups = self.groups.iter().enumerate().filter_map(|(index, group)| {
            let rule = group.rule.as_ref()?;
            Some((format!("optimizer.group.{index}.{}", rule.name), rule))
        });
        [(self.path(), &self.rule)].into_iter().chain(groups)
    }

    /// Adds the defaults of the rules to their settings.
    pub(crate) fn fill(&mut self, rules: &[Named]) {
        let of_groups = self.groups.iter_mut().filter_map(|group| group.rule.as_mut());
        for rule in of_groups.chain([&mut self.rule]) {
            if let Some(named) = rules.iter().find(|named| named.name == rule.name) {
                fill(&mut rule.settings, named.keys);
            }
        }
    }

    /// Checks the settings of a rule wherever it is named. A diagnostic says that they are no settings of type `T`, or is that of
    /// `wrong`, which gets the path of their table.
    pub fn check_settings<T: DeserializeOwned>(
        &self,
        rule: &str,
        wrong: impl Fn(&str, &T) -> Option<Diagnostic>,
    ) -> Diagnostics {
        let check = |(path, own): (String, &Rule)| match own.settings() {
            Ok(settings) => wrong(&path, &settings),
            Err(error) => Some(error.key(path)),
        };
        self.rules().filter(|(_, own)| own.name == rule).filter_map(check).collect()
    }

    /// Returns the schema kind of `[optimizer]`, given the update rules.
    pub(crate) fn kind(rules: &[Named]) -> Kind {
        let clipped = |key: Key| if Self::is_bound(key.name) { key.choice("bound of the gradients") } else { key };
        let shared: Vec<Key> = RuleTable::KEYS.iter().cloned().map(clipped).collect();
        let rule = |section: &Named| {
            let keys: Vec<Key> = shared.iter().chain(section.keys).cloned().collect();
            Key { required: true, ..optional(section.name, Kind::Table(keys.into()), section.about).choice(RULE) }
        };
        let own =
            |section: &Named| optional(section.name, Kind::Table(section.keys.into()), section.about).choice(RULE);
        let group: Vec<Key> = GroupTable::KEYS.iter().cloned().chain(rules.iter().map(own)).collect();
        let beside = OptimizerTable::KEYS.iter().map(|key| match key.name {
            "group" => optional(key.name, Kind::Tables(group.clone().into()), key.doc),
            _ => key.clone(),
        });
        Kind::Table(rules.iter().map(rule).chain(beside).collect())
    }

    /// Whether a key of the table of a rule holds of any rule: weight decay and clipping. The learning rate is one rule's own.
    pub(crate) fn is_shared(key: &str) -> bool {
        key != "lr" && RuleTable::KEYS.iter().any(|shared| shared.name == key)
    }

    /// Whether a key of the table of a rule bounds the gradients; a table has at most one of them.
    pub(crate) fn is_bound(key: &str) -> bool {
        key.starts_with("clip_")
    }

    /// Whether a key of its table is not the name of an update rule.
    pub fn is_own_key(name: &str) -> bool {
        OptimizerTable::KEYS.iter().any(|key| key.name == name)
    }
}

/// The choice that a table makes by the name of an update rule.
const RULE: &str = "update rule";

impl Field for Optimizer {
    const KIND: Kind = OptimizerTable::KIND;
}

impl Item for Group {
    const LIST: Kind = GroupTable::LIST;
}

impl Clip {
    /// Its key in recipes and the bound.
    pub fn entry(self) -> (&'static str, f64) {
        match self {
            Clip::Norm(norm) => ("clip_norm", norm),
            Clip::GroupNorm(norm) => ("clip_group_norm", norm),
            Clip::Value(value) => ("clip_value", value),
        }
    }
}

impl Rule {
    /// Its own settings as a value of the rule's type.
    ///
    /// # Errors
    /// When they are no settings of that type.
    pub fn settings<T: DeserializeOwned>(&self) -> Result<T> {
        self.settings.clone().try_into().map_err(|error: toml::de::Error| {
            Diagnostic::error(codes::RECIPE_TYPE, format!("the settings of `{}`: {}", self.name, error.message()))
                .help("write them as the update rule takes them")
        })
    }

    /// The rule that a table names, with its settings; `None` where it names none.
    fn only(rules: IndexMap<String, toml::Value>) -> std::result::Result<Option<(String, toml::Table)>, String> {
        let mut rules = rules.into_iter();
        match (rules.next(), rules.next()) {
            (None, _) => Ok(None),
            (Some((name, toml::Value::Table(settings))), None) => Ok(Some((name, settings))),
            (Some((name, _)), None) => Err(format!("`{name}` is no table of an update rule")),
            (Some((first, _)), Some((second, _))) => Err(format!("both `{first}` and `{second}` are update rules")),
        }
    }
}

impl Group {
    /// A group of the parameters that these patterns match, updated like the rest until more is said.
    pub fn new(name: &str, params: &[&str]) -> Self {
        Self {
            name: name.to_owned(),
            params: params.iter().map(|&pattern| pattern.to_owned()).collect(),
            except: Vec::new(),
            rule: None,
            lr_scale: 1.0,
            weight_decay: None,
            clip: true,
            frozen: false,
        }
    }
}

table! {
    /// `[optimizer]`.
    struct OptimizerTable {
        /// Decay rate of an exponential moving average of the weights. Left out, none is kept.
        #[serde(skip_serializing_if = "Option::is_none")]
        ema: Option<f64> as Kind::INSIDE = None,
        /// Parameters that are updated otherwise, each in at most one group.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        group: Vec<Group> = Vec::new(),
        ..
        rules: IndexMap<String, toml::Value>,
    }
}

table! {
    /// `[optimizer.<rule>]`.
    struct RuleTable {
        /// Peak learning rate.
        lr: f64 as Kind::POSITIVE,
        /// Weight decay, multiplied by the learning rate.
        weight_decay: f64 as Kind::NOT_NEGATIVE = 0.0,
        /// Patterns (`*` matches any text) of parameters without decay; each must match one.
        no_decay: Vec<String> = Vec::new(),
        /// The largest norm of all gradients together: larger ones are scaled down to it. Left out, they are not.
        #[serde(skip_serializing_if = "Option::is_none")]
        clip_norm: Option<f64> as Kind::POSITIVE = None,
        /// The largest norm of the gradients of each group; what is in no group is one too.
        #[serde(skip_serializing_if = "Option::is_none")]
        clip_group_norm: Option<f64> as Kind::POSITIVE = None,
        /// The largest absolute value of each element of a gradient.
        #[serde(skip_serializing_if = "Option::is_none")]
        clip_value: Option<f64> as Kind::POSITIVE = None,
        ..
        settings: toml::Table,
    }
}

table! {
    /// `[[optimizer.group]]`.
    struct GroupTable {
        /// Its name, which no other group has.
        name: String,
        /// Patterns (`*` matches any text) of its parameters.
        params: Vec<String>,
        /// Patterns of parameters that are left out of it.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        except: Vec<String> = Vec::new(),
        /// Multiplies the learning rate.
        lr_scale: f64 as Kind::POSITIVE = 1.0,
        /// Its weight decay. Left out, that of the optimizer. Parameters of `no_decay` have none in any group.
        #[serde(skip_serializing_if = "Option::is_none")]
        weight_decay: Option<f64> as Kind::NOT_NEGATIVE = None,
        /// Whether its gradients are clipped, and count in the norm by which others are.
        clip: bool = true,
        /// Whether its parameters stay as they are.
        frozen: bool = false,
        ..
        rules: IndexMap<String, toml::Value>,
    }
}

impl TryFrom<OptimizerTable> for Optimizer {
    type Error = String;

    fn try_from(table: OptimizerTable) -> std::result::Result<Self, String> {
        let (name, rule) = Rule::only(table.rules)?.ok_or("there is no update rule")?;
        let rule: RuleTable = rule.try_into().map_err(|error: toml::de::Error| error.message().to_owned())?;
        Ok(Self {
            clip: rule.clip()?,
            rule: Rule { name, settings: rule.settings },
            lr: rule.lr,
            weight_decay: rule.weight_decay,
            no_decay: rule.no_decay,
            groups: table.group,
            ema: table.ema,
        })
    }
}

impl RuleTable {
    fn clip(&self) -> std::result::Result<Option<Clip>, String> {
        let stated = [
            self.clip_norm.map(Clip::Norm),
            self.clip_group_norm.map(Clip::GroupNorm),
            self.clip_value.map(Clip::Value),
        ];
        match stated.into_iter().flatten().collect::<Vec<_>>()[..] {
            [] => Ok(None),
            [clip] => Ok(Some(clip)),
            [first, second, ..] => Err(format!("both `{}` and `{}` are set", first.entry().0, second.entry().0)),
        }
    }
}

impl From<Optimizer> for OptimizerTable {
    fn from(optimizer: Optimizer) -> Self {
        let bound = |key| optimizer.clip.map(Clip::entry).filter(|entry| entry.0 == key).map(|entry| entry.1);
        let rule = RuleTable {
            lr: optimizer.lr,
            weight_decay: optimizer.weight_decay,
            clip_norm: bound("clip_norm"),
            clip_group_norm: bound("clip_group_norm"),
            clip_value: bound("clip_value"),
            no_decay: optimizer.no_decay,
            settings: optimizer.rule.settings,
        };
        let rule = toml::Value::try_from(rule).expect("a table of numbers, texts and settings that are TOML");
        Self { ema: optimizer.ema, group: optimizer.groups, rules: [(optimizer.rule.name, rule)].into_iter().collect() }
    }
}

impl TryFrom<GroupTable> for Group {
    type Error = String;

    fn try_from(table: GroupTable) -> std::result::Result<Self, String> {
        let GroupTable { name, params, except, lr_scale, weight_decay, clip, frozen, rules } = table;
        let rule = Rule::only(rules)?.map(|(name, settings)| Rule { name, settings });
        Ok(Self { name, params, except, rule, lr_scale, weight_decay, clip, frozen })
    }
}

impl From<Group> for GroupTable {
    fn from(group: Group) -> Self {
        let Group { name, params, except, rule, lr_scale, weight_decay, clip, frozen } = group;
        let rules = rule.into_iter().map(|rule| (rule.name, rule.settings.into())).collect();
        Self { name, params, except, lr_scale, weight_decay, clip, frozen, rules }
    }
}
