//! What is known of a value without running the code.

use std::rc::Rc;

/// Constant text that was put together is followed up to this length; beyond, it is only data.
const LONGEST_SUM: usize = 1024;
/// So many alternatives of a constant are followed.
const MOST_ALTERNATIVES: usize = 32;

/// An abstract value.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Value {
    /// One of these constant strings.
    Text(Rc<Vec<String>>),
    /// A number or a word of the language, as it is spelt.
    Plain(Rc<str>),
    /// A path object made of one of these constants.
    Path(Rc<Vec<String>>),
    /// Some path at or below this one.
    Under(Rc<str>),
    /// A file name without a directory, as a listing gives it.
    Bare,
    /// Something iterable whose elements are each like this.
    Many(Rc<Value>),
    List(Rc<Vec<Value>>),
    Map(Rc<Vec<(String, Value)>>),
    /// A function whose body is part of the text that is read.
    Function,
    /// Something that the language's knowledge names: a module, a function, a guarded object.
    Known(Rc<str>),
    /// An object of which only some members are understood.
    Narrow,
    /// Data of which nothing is known but that it gives no power.
    Data,
}

impl Value {
    pub(crate) fn text(text: &str) -> Self {
        Self::Text(Rc::new(vec![text.to_owned()]))
    }

    pub(crate) fn plain(text: &str) -> Self {
        Self::Plain(Rc::from(text))
    }

    pub(crate) fn known(name: &str) -> Self {
        Self::Known(Rc::from(name))
    }

    pub(crate) fn path(text: &str) -> Self {
        Self::Path(Rc::new(vec![text.to_owned()]))
    }

    /// The one constant that it is.
    pub(crate) fn constant(&self) -> Option<&str> {
        match self {
            Self::Text(texts) if texts.len() == 1 => texts.first().map(String::as_str),
            _ => None,
        }
    }

    pub(crate) fn is_true(&self) -> bool {
        matches!(self, Self::Plain(word) if matches!(&**word, "True" | "true" | "1"))
    }

    pub(crate) fn is_plain(&self) -> bool {
        matches!(self, Self::Plain(_))
    }

    /// All constants that it may be.
    pub(crate) fn texts(&self) -> Option<&[String]> {
        match self {
            Self::Text(texts) | Self::Path(texts) => Some(texts),
            _ => None,
        }
    }

    /// The words of a constant list.
    pub(crate) fn words(&self) -> Option<Vec<String>> {
        let Self::List(items) = self else { return None };
        items.iter().map(|item| item.constant().map(str::to_owned)).collect()
    }

    /// What an element of it is.
    pub(crate) fn element(&self) -> Self {
        match self {
            Self::Many(each) => (**each).clone(),
            Self::List(items) => {
                let mut items = items.iter();
                let Some(first) = items.next() else { return Self::Data };
                let mut all = first.clone();
                for item in items {
                    if all == Self::Data {
                        break;
                    }
                    all = all.either(item);
                }
                all
            }
            _ => Self::Data,
        }
    }

    /// What it is if it may be this or the other. Neither gives power, or both are the same.
    pub(crate) fn either(&self, other: &Self) -> Self {
        if self == other {
            return self.clone();
        }
        match (self, other) {
            (Self::Text(one), Self::Text(two)) => match union(one, two) {
                Some(all) => Self::Text(Rc::new(all)),
                None => Self::Data,
            },
            (Self::Path(one), Self::Path(two)) => match union(one, two) {
                Some(all) => Self::Path(Rc::new(all)),
                None => Self::Data,
            },
            _ => Self::Data,
        }
    }

    /// Two texts behind one another.
    pub(crate) fn plus(&self, other: &Self) -> Self {
        match (self, other) {
            (Self::Text(one), Self::Text(two)) => match product(one, two, |a, b| format!("{a}{b}")) {
                Some(all) => Self::Text(Rc::new(all)),
                None => Self::Data,
            },
            // A directory, a slash and a bare name stay below the directory.
            (Self::Text(one), Self::Bare) => match one.first() {
                Some(text) if one.len() == 1 && text.ends_with('/') => Self::Under(Rc::from(text.as_str())),
                _ => Self::Data,
            },
            (Self::List(one), Self::List(two)) if one.len() + two.len() <= MOST_ALTERNATIVES => {
                Self::List(Rc::new(one.iter().chain(two.iter()).cloned().collect()))
            }
            _ => Self::Data,
        }
    }

    /// Two paths behind one another, as `os.path.join` and `/` do it.
    pub(crate) fn joined(&self, other: &Self) -> Self {
        match (self, other) {
            (Self::Text(one) | Self::Path(one), Self::Text(two) | Self::Path(two)) => {
                match product(one, two, join) {
                    Some(all) if matches!(self, Self::Path(_)) => Self::Path(Rc::new(all)),
                    Some(all) => Self::Text(Rc::new(all)),
                    None => Self::Data,
                }
            }
            (Self::Text(one) | Self::Path(one), Self::Bare) => match one.first() {
                Some(text) if one.len() == 1 => Self::Under(Rc::from(text.as_str())),
                _ => Self::Data,
            },
            (Self::Under(directory), Self::Bare) => Self::Under(Rc::clone(directory)),
            _ => Self::Data,
        }
    }
}

fn union(one: &[String], two: &[String]) -> Option<Vec<String>> {
    let mut all = one.to_vec();
    for text in two {
        if !all.contains(text) {
            all.push(text.clone());
        }
    }
    (all.len() <= MOST_ALTERNATIVES).then_some(all)
}

fn product(one: &[String], two: &[String], join: impl Fn(&str, &str) -> String) -> Option<Vec<String>> {
    if one.len() * two.len() > MOST_ALTERNATIVES {
        return None;
    }
    let length: usize = one.iter().chain(two).map(String::len).sum();
    if length > LONGEST_SUM {
        return None;
    }
    Some(one.iter().flat_map(|a| two.iter().map(|b| join(a, b)).collect::<Vec<_>>()).collect())
}

fn join(directory: &str, name: &str) -> String {
    if name.starts_with('/') || directory.is_empty() {
        name.to_owned()
    } else if directory.ends_with('/') {
        format!("{directory}{name}")
    } else {
        format!("{directory}/{name}")
    }
}
