//! Finding and reading the configuration files of all layers.

use std::path::{Path, PathBuf};

use policy::{At, Base, Config, ConfigError, Layer, Origin};

use crate::world::World;

/// Names under which a directory may hold a configuration.
const NAMES: [&str; 3] = ["config.yaml", "config.yml", "config.json"];
/// How many rule files all layers together may name.
const MAX_POLICIES: usize = 64;

/// What the command line says about configuration.
#[derive(Debug, Clone, Default)]
pub struct Wanted {
    /// `--config`
    pub config: Option<PathBuf>,
    /// Flags, as the YAML that they stand for.
    pub flags: Option<String>,
    /// The workspace's root.
    pub workspace: Option<PathBuf>,
}

/// Reads and merges all layers.
///
/// # Errors
/// A file that cannot be read, or says something wrong. A `--config` that does not exist is an error; other files may be absent.
pub fn load(world: &World, wanted: &Wanted) -> Result<Config, ConfigError> {
    load_for(world, wanted, None)
}

/// The same for one request, which brings configuration of its own: it may only tighten.
///
/// # Errors
/// As [`load`], and a request that would loosen something.
pub fn load_for(world: &World, wanted: &Wanted, request: Option<&str>) -> Result<Config, ConfigError> {
    let mut files: Vec<(Origin, PathBuf)> = Vec::new();
    for (origin, directory) in
        [(Origin::Managed, world.managed.as_ref()), (Origin::User, world.configuration.as_ref())]
    {
        let found = directory.and_then(|directory| {
            NAMES.iter().map(|name| directory.join(name)).find(|path| world.disk.exists(path))
        });
        files.extend(found.map(|path| (origin, path)));
    }
    if let Some(workspace) = &wanted.workspace {
        let path = workspace.join(".bailiwick.yaml");
        if world.disk.exists(&path) {
            files.push((Origin::Workspace, path));
        }
    }
    if let Some(path) = &wanted.config {
        files.push((Origin::Given, path.clone()));
    }
    let mut layers = Vec::new();
    let mut named = 0;
    for (origin, path) in files {
        let layer = read(world, origin, &path, None)?;
        let policies: Vec<(String, At)> =
            layer.policies().map(|(file, at)| (file.into(), at.clone())).collect();
        layers.push(layer);
        for (file, at) in policies {
            named += 1;
            if named > MAX_POLICIES {
                let message = format!("more than {MAX_POLICIES} rule files");
                return Err(ConfigError { at, message, help: None });
            }
            let target = beside(origin, &path, &file, &at)?;
            layers.push(read(world, origin, &target, Some(&at))?);
        }
    }
    if let Some(flags) = &wanted.flags {
        layers.push(Layer::parse(Origin::Flags, "the command line", flags)?);
    }
    if let Some(request) = request {
        layers.push(Layer::parse(Origin::Request, policy::REQUEST, request)?);
    }
    let base = Base {
        cwd: world.cwd.to_string_lossy().into_owned(),
        home: world.home.as_ref().map(|home| home.to_string_lossy().into_owned()),
    };
    let mut config = Config::merge(layers, &base)?;
    crate::equip::check(&config)?;
    for directory in world.own() {
        config.keep_away_from(&directory.to_string_lossy())?;
    }
    if let Some(journal) = config.journal().directory.as_ref().map(|set| set.value.clone()) {
        config.keep_away_from(&journal)?;
    }
    Ok(config)
}

fn read(world: &World, origin: Origin, path: &Path, named_at: Option<&At>) -> Result<Layer, ConfigError> {
    let shown = path.display().to_string();
    let refuse = |message: String| ConfigError {
        at: named_at.cloned().unwrap_or_else(|| At::file(&shown)),
        message,
        help: None,
    };
    match world.disk.read(path) {
        Ok(Some(text)) => Layer::parse(origin, &shown, &text),
        Ok(None) => Err(refuse(format!("`{shown}` does not exist"))),
        Err(why) => Err(refuse(format!("`{shown}` {why}"))),
    }
}

/// Where a rule file that another file names is.
fn beside(origin: Origin, path: &Path, file: &str, at: &At) -> Result<PathBuf, ConfigError> {
    let relative = Path::new(file);
    let climbs = relative.is_absolute()
        || relative.components().any(|part| matches!(part, std::path::Component::ParentDir));
    // An agent that can write the workspace's file could otherwise have any file of the user read.
    if origin == Origin::Workspace && climbs {
        return Err(ConfigError {
            at: at.clone(),
            message: format!("`{file}` lies outside the workspace"),
            help: Some("a workspace file may name only rule files below it".into()),
        });
    }
    Ok(path.parent().unwrap_or(Path::new("")).join(relative))
}
