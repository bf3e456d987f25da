//! The folders of an agent, by the variables of its environment.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use crate::Profile;

pub(super) fn variable(env: &BTreeMap<OsString, OsString>, name: &str) -> Option<PathBuf> {
    env.get(OsStr::new(name))
        .filter(|value| !value.is_empty())
        .map(PathBuf::from)
}

pub(super) fn caches(env: &BTreeMap<OsString, OsString>) -> Option<PathBuf> {
    variable(env, "XDG_CACHE_HOME")
        .or_else(|| Some(variable(env, "HOME")?.join(".cache")))
        .filter(|path| path.is_absolute())
}

pub(crate) fn own_folders(profile: &Profile, env: &BTreeMap<OsString, OsString>) -> Vec<PathBuf> {
    profile
        .folders
        .iter()
        .filter_map(|(name, in_home, sub)| {
            let folder =
                variable(env, name).or_else(|| Some(variable(env, "HOME")?.join(in_home)))?;
            folder.is_absolute().then(|| folder.join(sub))
        })
        .collect()
}

pub fn real(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}
