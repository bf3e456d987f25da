//! The folders of an agent, by the variables of its environment.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use crate::Profile;
use crate::adapters::profile::place;

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
    places(&profile.folders, env)
}

pub(super) fn places<'a>(
    texts: impl IntoIterator<Item = &'a String>,
    env: &BTreeMap<OsString, OsString>,
) -> Vec<PathBuf> {
    let texts = texts.into_iter();
    let variable = |name: &str| variable(env, name);
    texts.filter_map(|text| place(text, &variable)).collect()
}

pub fn real(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}
