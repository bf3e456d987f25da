//! The user of the token, and the permissions of the people who reply.
//!
//! Only the token of an administrator of the repository can read the permission of another user. For every other
//! token, the owner of a personal repository is a maintainer, and the users to whom the host can assign the pull
//! request, and the collaborators, are members. These are the users with the permission to write and, in an
//! organisation, the members of the repository's teams.

use std::collections::BTreeSet;

use serde::de::IgnoredAny;

use super::answers::{GiteaPermission, GiteaUser};
use super::server::Gitea;
use super::threads::is_by_glee;
use crate::workflows::hosts::model::{Comment, HostError, Permission, Thread};

const WHAT: &str = "read the permission of a user";

impl Gitea {
    pub(crate) fn user(&self) -> Result<Option<i64>, HostError> {
        if let Some(known) = *self.people.user.borrow() {
            return Ok(known);
        }
        let user = match self.transport.has_token() {
            true => Some(self.transport.get::<GiteaUser>("/user", "read the user of the token")?.id),
            false => None,
        };
        self.people.user.replace(Some(user));
        Ok(user)
    }

    /// Finds the permissions of the people who replied in threads of the token's user. No other permission has an
    /// effect.
    pub(crate) fn find_members(&self, thread: &mut Thread) -> Result<(), HostError> {
        if !thread.comments.first().is_some_and(|first| first.is_own) {
            return Ok(());
        }
        let is_by_person = |comment: &&mut Comment| !comment.author.is_bot && !is_by_glee(comment);
        for comment in thread.comments.iter_mut().filter(is_by_person) {
            comment.permission = self.permission(&comment.author.login)?;
        }
        Ok(())
    }

    fn permission(&self, login: &str) -> Result<Permission, HostError> {
        if !is_login(login) {
            return Ok(Permission::Outsider);
        }
        let login = login.to_lowercase();
        if let Some(known) = self.people.permissions.borrow().get(&login) {
            return Ok(*known);
        }
        let permission = self.read_permission(&login)?;
        self.people.permissions.borrow_mut().insert(login, permission);
        Ok(permission)
    }

    fn read_permission(&self, login: &str) -> Result<Permission, HostError> {
        let collaborator = format!("{}/collaborators/{login}", self.repository());
        let stated = match self.transport.get::<GiteaPermission>(&format!("{collaborator}/permission"), WHAT) {
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
        if self.is_assignee(login)? {
            // The owner of a repository is an organisation, which writes no comments, or this user.
            let is_owner = login == self.address.owner.to_lowercase();
            return Ok(if is_owner { Permission::Maintainer } else { Permission::Member });
        }
        match self.transport.get::<IgnoredAny>(&collaborator, WHAT) {
            Ok(_) => Ok(Permission::Member),
            // The host answers with 422 if the user does not exist.
            Err(HostError::Forbidden { .. } | HostError::NotFound { .. } | HostError::Refused { .. }) => {
                Ok(Permission::Outsider)
            }
            Err(error) => Err(error),
        }
    }

    fn is_assignee(&self, login: &str) -> Result<bool, HostError> {
        if let Some(known) = &*self.people.assignees.borrow() {
            return Ok(known.contains(login));
        }
        let path = format!("{}/assignees", self.repository());
        let users: Vec<GiteaUser> = match self.transport.get(&path, WHAT) {
            Err(HostError::Forbidden { .. } | HostError::NotFound { .. }) => Vec::new(),
            done => done?,
        };
        let known: BTreeSet<String> = users.into_iter().map(|user| user.login.to_lowercase()).collect();
        let is_known = known.contains(login);
        self.people.assignees.replace(Some(known));
        Ok(is_known)
    }
}

/// Whether a login can be a part of a path. The login of a deleted user is empty.
fn is_login(login: &str) -> bool {
    login.starts_with(|first: char| first.is_ascii_alphanumeric() || first == '_')
        && login.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.'))
}
