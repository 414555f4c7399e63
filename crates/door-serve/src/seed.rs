//! What a request asks, in the words of those who ask: a line of `check --jsonl`, the question of a security layer to its
//! policy engine, or AuthZEN's. All become one [`RawCall`].

use gate::call::{Principal, RawCall};
use serde_json::{Map, Value};

use crate::refusal::Refusal;
use crate::token::Caller;

/// One call that is to be judged or run.
pub(crate) struct Wanted {
    pub(crate) raw: RawCall,
    /// What the request tightens.
    pub(crate) safety: Option<Value>,
    /// The steps of the decision are wanted too.
    pub(crate) explain: bool,
}

/// Names under which a shell is known to others.
const SHELLS: [&str; 3] = ["shell:execute", "shell_interpreter", "shell"];

impl Wanted {
    /// A line of `check --jsonl`, with `safety` and `explain`.
    pub(crate) fn line(mut members: Map<String, Value>, caller: &Caller) -> Result<Wanted, Refusal> {
        let safety = taken(&mut members, "safety", Value::is_object, "an object")?;
        let explain = taken(&mut members, "explain", Value::is_boolean, "`true` or `false`")?;
        let raw = RawCall::from_value_beside(Value::Object(members), &["safety", "explain"])?;
        Ok(Wanted { raw, safety, explain: explain == Some(Value::Bool(true)) }.named_by(caller))
    }

    /// `{principal{id, groups}, action, resource{type, name, attributes{args}}, context}`
    pub(crate) fn of_security_layer(
        mut members: Map<String, Value>,
        caller: &Caller,
    ) -> Result<Wanted, Refusal> {
        let action = taken(&mut members, "action", Value::is_string, "a string")?;
        if action.as_ref().and_then(Value::as_str) != Some("tool:execute") {
            return Err(expected("action", "`tool:execute`"));
        }
        let mut resource =
            object(&mut members, "resource")?.ok_or_else(|| expected("resource", "an object"))?;
        let kind = taken(&mut resource, "type", Value::is_string, "a string")?;
        if kind.as_ref().and_then(Value::as_str) != Some("tool") {
            return Err(expected("resource.type", "`tool`"));
        }
        let name = taken(&mut resource, "name", Value::is_string, "a string")?;
        let Some(Value::String(name)) = name else { return Err(expected("resource.name", "a string")) };
        let mut attributes = object(&mut resource, "attributes")?.unwrap_or_default();
        let args = object(&mut attributes, "args")?.unwrap_or_default();
        let mut wanted = Wanted { raw: named(&name, args), safety: None, explain: false };
        if let Some(principal) = members.shift_remove("principal").filter(|principal| !principal.is_null()) {
            wanted.raw.principal = Principal::read(principal)
                .map_err(|invalid| Refusal::invalid(format!("`principal`: {invalid}")))?;
        }
        wanted.around(&mut object(&mut members, "context")?.unwrap_or_default())?;
        match members.keys().next() {
            Some(key) => {
                Err(Refusal::invalid(format!("the key `{}` is not known", gate::call::visible(key))))
            }
            None => Ok(wanted.named_by(caller)),
        }
    }

    /// `{subject{type, id, properties}, action{name}, resource{type, id, properties}, context}`
    pub(crate) fn of_authzen(request: &Map<String, Value>, caller: &Caller) -> Result<Wanted, Refusal> {
        let entity = |name: &'static str| match request.get(name) {
            Some(Value::Object(members)) => Ok(members.clone()),
            _ => Err(expected(name, "an object")),
        };
        let text = |members: &Map<String, Value>, entity: &str, name: &str| {
            let text = members.get(name).and_then(Value::as_str).filter(|text| !text.is_empty());
            text.map(str::to_owned).ok_or_else(|| expected(&format!("{entity}.{name}"), "a string"))
        };
        let (subject, action, mut resource) = (entity("subject")?, entity("action")?, entity("resource")?);
        text(&subject, "subject", "type")?;
        let who = text(&subject, "subject", "id")?;
        for (entity, members) in [("subject", &subject), ("action", &action)] {
            if !matches!(members.get("properties"), None | Some(Value::Null | Value::Object(_))) {
                return Err(expected(&format!("{entity}.properties"), "an object"));
            }
        }
        text(&action, "action", "name")?;
        let mut context = match request.get("context") {
            None | Some(Value::Null) => Map::new(),
            Some(Value::Object(context)) => context.clone(),
            Some(_) => return Err(expected("context", "an object")),
        };
        let (kind, id) = (text(&resource, "resource", "type")?, text(&resource, "resource", "id")?);
        let mut properties = object(&mut resource, "properties")?.unwrap_or_default();
        let raw = match kind.as_str() {
            "command" => RawCall::command(id),
            "tool" => named(&id, object(&mut properties, "args")?.unwrap_or_default()),
            // FAIL-CLOSED: nobody here knows such a thing, so nobody says that it may be touched.
            _ => {
                return Err(Refusal::unfit("`resource.type` is neither `tool` nor `command`"));
            }
        };
        let mut wanted = Wanted { raw, safety: None, explain: false };
        let groups = subject.get("properties").and_then(|properties| properties.get("groups")).cloned();
        let mut principal = Map::new();
        principal.insert("id".into(), who.into());
        principal.extend(groups.map(|groups| ("groups".to_owned(), groups)));
        wanted.raw.principal = Principal::read(Value::Object(principal))
            .map_err(|invalid| Refusal::invalid(format!("`subject`: {invalid}")))?;
        wanted.around(&mut context)?;
        Ok(wanted.named_by(caller))
    }

    /// What the surroundings say: directory, session, terms. Other things in them are the asker's own.
    fn around(&mut self, context: &mut Map<String, Value>) -> Result<(), Refusal> {
        let mut text = |name: &str| match context.shift_remove(name) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(_) => Err(expected(&format!("context.{name}"), "a string")),
        };
        self.raw.cwd = text("cwd")?;
        self.raw.session = text("session_id")?.or(text("session")?);
        self.safety = taken(context, "safety", Value::is_object, "an object")?;
        Ok(())
    }

    /// Who asks is whoever the token belongs to, unless the token may speak for others. A session is one of whoever asks: two
    /// that name theirs alike, or name none, do not share what was approved, nor the programs that run in it.
    fn named_by(mut self, caller: &Caller) -> Wanted {
        if !caller.may_name_principals {
            let id = caller.name.as_deref().unwrap_or("agent").to_owned();
            self.raw.principal = Principal { id, groups: Vec::new() };
        }
        let session = self
            .raw
            .session
            .take()
            .unwrap_or_else(|| format!("http-{}", caller.name.as_deref().unwrap_or("main")));
        // Where the main token speaks for nobody in particular, its sessions keep the names that it gives them.
        let nobody = caller.name.is_none() && self.raw.principal == Principal::default();
        let plain = nobody && !session.contains('/');
        self.raw.session = Some(if plain { session } else { owned(&self.raw.principal.id, &session) });
        self
    }
}

/// The session of this name of whoever asks. No two that differ in either become one.
fn owned(principal: &str, session: &str) -> String {
    format!("{}/{session}", principal.replace('%', "%25").replace('/', "%2F"))
}

/// A call of a tool by the name that others have for it.
fn named(name: &str, args: Map<String, Value>) -> RawCall {
    match args.get("command") {
        Some(Value::String(command)) if SHELLS.contains(&name) && args.len() == 1 => {
            RawCall::command(command.clone())
        }
        _ => RawCall::new(name, Value::Object(args)),
    }
}

fn expected(key: &str, what: &str) -> Refusal {
    Refusal::invalid(format!("`{key}` must be {what}"))
}

fn taken(
    members: &mut Map<String, Value>,
    key: &str,
    fits: fn(&Value) -> bool,
    what: &str,
) -> Result<Option<Value>, Refusal> {
    match members.shift_remove(key) {
        None | Some(Value::Null) => Ok(None),
        Some(value) if fits(&value) => Ok(Some(value)),
        Some(_) => Err(expected(key, what)),
    }
}

fn object(members: &mut Map<String, Value>, key: &str) -> Result<Option<Map<String, Value>>, Refusal> {
    match taken(members, key, Value::is_object, "an object")? {
        Some(Value::Object(members)) => Ok(Some(members)),
        _ => Ok(None),
    }
}
