//! The tools of coding agents' hosts that touch nothing but the host itself: lists of what is to do, plans, questions to
//! the person, and what was started in the background before (which was judged when it was started).
//!
//! None of their arguments says anything about files, programs or hosts, so none is read.

use schemars::JsonSchema;
use serde::Deserialize;

use super::Kind;
use crate::descriptor::Category;
use crate::form::Form;
use crate::intent::Intent;

macro_rules! quiet {
    ($($kind:ident $name:literal $category:ident $about:literal,)*) => {$(
        #[doc = concat!("Arguments of `", $name, "`: none matters.")]
        #[derive(Deserialize, JsonSchema)]
        pub struct $kind {}

        impl Kind for $kind {
            const NAME: &'static str = $name;
            const CATEGORY: Category = Category::$category;
            const ABOUT: &'static str = $about;
            const HOST: bool = true;

            fn intents(&self) -> Vec<Intent> {
                vec![Intent::Nothing]
            }

            fn fill(&self, _form: &mut Form<'_>) {}
        }
    )*};
}

quiet! {
    HostTodoWrite "TodoWrite" None "Keeps the list of what is to do.",
    HostTaskCreate "TaskCreate" None "Adds to the list of what is to do.",
    HostTaskUpdate "TaskUpdate" None "Changes the list of what is to do.",
    HostTaskGet "TaskGet" None "Looks at the list of what is to do.",
    HostTaskList "TaskList" None "Shows the list of what is to do.",
    HostEnterPlanMode "EnterPlanMode" None "Starts to plan.",
    HostExitPlanMode "ExitPlanMode" Human "Shows a plan to the person.",
    HostAskUserQuestion "AskUserQuestion" Human "Asks the person.",
    HostToolSearch "ToolSearch" None "Looks for tools of the host.",
    HostBashOutput "BashOutput" None "Collects the output of a command in the background.",
    HostKillShell "KillShell" None "Ends a command in the background.",
    HostTaskOutput "TaskOutput" None "Collects the output of a task in the background.",
    HostTaskStop "TaskStop" None "Ends a task in the background.",
}
