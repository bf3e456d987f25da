use std::collections::HashMap;
use std::env;
use std::ffi::OsStr;
use std::fmt;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::Command;

use chrono::{TimeZone, Utc};
use percent_encoding::{percent_encode, NON_ALPHANUMERIC};
use regex::Regex;
use walkdir::WalkDir;

/// Search for a `Migrant.toml` file in the current and parent directories
pub fn search_for_settings_file<T: AsRef<Path>>(base: T) -> Option<PathBuf> {
    let mut base = base.as_ref().to_owned();
    loop {
        for path in fs::read_dir(&base).unwrap() {
            let path = path.unwrap().path();
            if let Some(file) = path.file_name() {
                if file == CONFIG_FILE {
                    return Some(path.clone());
                }
            }
        }
        if base.parent().is_some() {
            base.pop();
        } else {
            return None;
        }
    }
}

/// Search for available migrations in the given migration directory
///
/// Intended only for use with `FileMigration`s not managed directly in source
/// with `Config::use_migrations`.
fn search_for_migrations(mig_root: &Path) -> Result<Vec<FileMigration>> {
    // collect any .sql files into a Map<`stamp-tag`, Vec<up&down files>>
    let mut files = HashMap::new();
    for dir in WalkDir::new(mig_root) {
        if dir.is_err() {
            break;
        }
        let e = dir.unwrap();
        let path = e.path();
        if let Some(ext) = path.extension() {
            if ext.is_empty() || ext != "sql" {
                continue;
            }
            let parent = path.parent().unwrap();
            let key = format!("{}", parent.display());
            let entry = files.entry(key).or_insert_with(Vec::new);
            entry.push(path.to_path_buf());
        }
    }

    // transform up&down files into a Vec<Migration>
    let mut migrations = vec![];
    for (path, migs) in &files {
        let full_name = PathBuf::from(path);
        let full_name = full_name
            .file_name()
            .and_then(OsStr::to_str)
            .ok_or_else(|| {
                format_err!(
                    ErrorKind::PathError,
                    "Error extracting file-name from: {:?}",
                    full_name
                )
            })?;
        let mut full_name_iter = full_name.split('_');
        let stamp = full_name_iter.next().ok_or_else(|| {
            format_err!(
                ErrorKind::TagError,
                "Invalid tag format: {:?}, \
                 must follow `<timestamp>_<tag>`",
                full_name
            )
        })?;
        let tag = full_name_iter.next().ok_or_else(|| {
            format_err!(
                ErrorKind::TagError,
                "Invalid tag format: {:?}, \
                 must follow `<timestamp>_<tag>`",
                full_name
            )
        })?;
        let stamp = Utc.datetime_from_str(stamp, DT_FORMAT).chain_err(|| {
            format_err!(
                ErrorKind::TagError,
                "Invalid timestamp format {:?}, on tag: {:?}, must follow `{}`",
                stamp,
                full_name,
                DT_FORMAT
            )
        })?;

        let mut up = None;
        let mut down = None;

        for mig in migs.iter() {
            let up_down = mig.file_stem().and_then(OsStr::to_str).ok_or_else(|| {
                format_err!(
                    ErrorKind::PathError,
                    "Error extracting file-stem from: {:?}",
                    full_name
                )
            })?;
            match up_down {
                "up" => up = Some(mig.clone()),
                "down" => down = Some(mig.clone()),
                _ => unreachable!(),
            };
        }
        if up.is_none() {
            bail_fmt!(
                ErrorKind::MigrationNotFound,
                "Up migration not found for tag: {}",
                tag
            )
        }
        if down.is_none() {
            bail_fmt!(
                ErrorKind::MigrationNotFound,
                "Down migration not found for tag: {}",
                tag
            )
        }
        migrations.push(FileMigration {
            up,
            down,
            tag: tag.to_owned(),
            stamp: Some(stamp),
        });
    }

    // sort by timestamps chronologically
    migrations.sort_by(|a, b| a.stamp.unwrap().cmp(&b.stamp.unwrap()));
    Ok(migrations)
}
