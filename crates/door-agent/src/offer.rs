//! Which tools a model is offered: those that can be run here and that the policy does not deny whatever their arguments.

use gate::call::{Category, tool, tools};
use gate::{Gate, Hands};

use crate::model::Offer;

/// What an agent may do beside the policy.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Able {
    /// It may start agents.
    pub(crate) agents: bool,
}

/// The tools that are offered.
pub(crate) fn offers(gate: &Gate, hands: &Hands, able: Able) -> Vec<Offer> {
    let config = gate.config();
    let mut all: Vec<Offer> = tools()
        .iter()
        .filter(|tool| !tool.host && !config.denies_tool(tool.name, tool.category))
        .filter(|tool| match tool.category {
            Category::Human => hands.human.is_some(),
            Category::Connect => hands.search.is_some(),
            Category::Agent => able.agents,
            Category::Exec | Category::Stdin | Category::Read | Category::Write | Category::None => {
                !tool.name.starts_with("skill_") || hands.skills.is_some()
            }
            Category::Custom => false,
        })
        .map(|tool| Offer { name: tool.name.into(), about: tool.about.into(), schema: tool.schema().clone() })
        .collect();
    all.extend(gate.custom_tools().filter(|(name, _)| !config.denies_tool(name, Category::Custom)).map(
        |(name, tool)| Offer { name: name.into(), about: tool.about().into(), schema: tool.schema().clone() },
    ));
    all
}

/// Whether there is such a tool at all, denied or not: the gate then says why it is denied.
pub(crate) fn exists(gate: &Gate, name: &str) -> bool {
    tool(name).is_some_and(|tool| !tool.host) || gate.custom_tools().any(|(known, _)| known == name)
}
