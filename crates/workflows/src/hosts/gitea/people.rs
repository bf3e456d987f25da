//! The user of the token, and the permissions of the people who reply.
//!
//! Only the token of an administrator of the repository can read the permission of another user. Without an
//! administrator's token, Glee recognises only the owner of a personal repository as a maintainer. Members are
//! the collaborators, and the users to whom the host can assign the pull request. The host can assign a pull
//! request to members of the repository's teams, and to users with write permission.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use serde::de::IgnoredAny;

use super::answers::{GiteaPermission, GiteaUser};
use super::api::GiteaApi;
use super::threads::is_by_glee;
use crate::hosts::model::{HostError, Permission, Thread, read_once};

const WHAT: &str = "read the permission of a user";

#[derive(Default)]
pub(super) struct People {
    /// The permissions by login in lower case.
    permissions: RefCell<BTreeMap<String, Permission>>,
    /// The logins of the users to whom the host can assign the pull request, in lower case.
    assignees: RefCell<Option<BTreeSet<String>>>,
}

impl People {
    /// Reads the permissions of the people who replied, if the token's user started the thread. In other threads,
    /// permissions have no effect.
    pub(crate) fn find_members(
        &self,
        api: &GiteaApi,
        thread: &mut Thread,
    ) -> Result<(), HostError> {
        if !thread.comments.first().is_some_and(|first| first.is_own) {
            return Ok(());
        }
        for comment in thread
            .comments
            .iter_mut()
            .filter(|comment| !comment.author.is_bot && !is_by_glee(comment))
        {
            comment.permission = self.permission(api, &comment.author.login)?;
        }
        Ok(())
    }

    fn permission(&self, api: &GiteaApi, login: &str) -> Result<Permission, HostError> {
        if !is_login(login) {
            return Ok(Permission::Outsider);
        }
        let login = login.to_lowercase();
        let read = || self.read_permission(api, &login);
        read_once(&self.permissions, login.clone(), read)
    }

    fn read_permission(&self, api: &GiteaApi, login: &str) -> Result<Permission, HostError> {
        let collaborator = format!("{}/collaborators/{login}", api.repository());
        let stated = match api
            .transport
            .get::<GiteaPermission>(&format!("{collaborator}/permission"), WHAT)
        {
            Ok(answer) => answer.permission,
            Err(HostError::Forbidden { .. } | HostError::NotFound { .. }) => String::new(),
            Err(error) => return Err(error),
        };
        match stated.as_str() {
            "owner" | "admin" | "write" => return Ok(Permission::Maintainer),
            "none" => return Ok(Permission::Outsider),
            // Everybody can read a public repository.
            _ => {}
        }
        if self.is_assignee(api, login)? {
            // An owner who writes a comment is a user, because an organisation cannot write comments.
            let is_owner = login == api.address.owner.to_lowercase();
            return Ok(if is_owner {
                Permission::Maintainer
            } else {
                Permission::Member
            });
        }
        match api.transport.get::<IgnoredAny>(&collaborator, WHAT) {
            Ok(_) => Ok(Permission::Member),
            // The host returns the HTTP status 422 if the user does not exist.
            Err(
                HostError::Forbidden { .. }
                | HostError::NotFound { .. }
                | HostError::Refused { .. },
            ) => Ok(Permission::Outsider),
            Err(error) => Err(error),
        }
    }

    fn is_assignee(&self, api: &GiteaApi, login: &str) -> Result<bool, HostError> {
        if let Some(known) = &*self.assignees.borrow() {
            return Ok(known.contains(login));
        }
        let path = format!("{}/assignees", api.repository());
        let users: Vec<GiteaUser> = match api.transport.get(&path, WHAT) {
            Err(HostError::Forbidden { .. } | HostError::NotFound { .. }) => Vec::new(),
            done => done?,
        };
        let known: BTreeSet<String> = users
            .into_iter()
            .map(|user| user.login.to_lowercase())
            .collect();
        let is_known = known.contains(login);
        self.assignees.replace(Some(known));
        Ok(is_known)
    }
}

/// Whether a login can be inserted into the path of a URL. The login of a deleted user is empty.
fn is_login(login: &str) -> bool {
    login.starts_with(|first: char| first.is_ascii_alphanumeric() || first == '_')
        && login
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.'))
}
