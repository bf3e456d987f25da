//! Reads discussions, and the permissions of the people who replied to Glee.

use super::answers::{DiscussionAnswer, GitLabUser, MemberAnswer, NoteAnswer, account};
use super::{DISCUSSIONS, GitLab};
use crate::hosts::model::{
    Comment, CommentId, Conversation, HostError, Permission, PullRequest, Thread, ThreadId,
    read_once,
};

/// The access levels of GitLab: Developer and Maintainer.
const DEVELOPER: u32 = 30;
const MAINTAINER: u32 = 40;

impl GitLab {
    pub(crate) fn read_conversation(
        &self,
        request: &PullRequest,
    ) -> Result<Conversation, HostError> {
        // If the token has no user, no comment counts as a comment of Glee. In this case, no comment of the
        // conversation has an effect.
        let Some(user) = self.transport.user()? else {
            return Ok(Conversation::default());
        };
        let path = format!("{}/discussions?per_page=100", self.merge_request());
        let discussions: Vec<DiscussionAnswer> =
            self.transport
                .get_all(&path, DISCUSSIONS, "read the conversation")?;
        let mut conversation = Conversation::default();
        for discussion in discussions {
            let DiscussionAnswer {
                id,
                individual_note,
                notes,
            } = discussion;
            let notes: Vec<NoteAnswer> = notes.into_iter().filter(|note| !note.system).collect();
            let Some(first) = notes.first() else { continue };
            let position = first.position.as_ref();
            let path = position.and_then(|position| {
                position
                    .new_path
                    .clone()
                    .or_else(|| position.old_path.clone())
            });
            // GitLab moves positions to the current diff. If a position still names an earlier commit, the line
            // of the position is no longer in the diff.
            let current =
                position.filter(|position| position.head_sha.as_ref() == Some(&request.head.id));
            let line = current.and_then(|position| position.new_line);
            let mut resolvable = notes.iter().filter(|note| note.resolvable).peekable();
            let is_resolved = resolvable.peek().is_some() && resolvable.all(|note| note.resolved);
            let is_own_thread = is_own(first, user);
            let comments: Vec<Comment> = notes
                .into_iter()
                .map(|note| self.comment_of(note, user, is_own_thread))
                .collect::<Result<_, HostError>>()?;
            if individual_note {
                conversation.comments.extend(comments);
            } else {
                conversation.threads.push(Thread {
                    id: ThreadId(id),
                    path,
                    line,
                    is_resolved,
                    comments,
                });
            }
        }
        conversation
            .threads
            .sort_by_key(|thread| thread.comments.first().map(|comment| comment.created));
        conversation.comments.sort_by_key(|comment| comment.created);
        Ok(conversation)
    }

    /// Converts a comment. In threads that other users started, all authors get the permission `Outsider`. Glee
    /// uses permissions only in threads that Glee started.
    fn comment_of(
        &self,
        note: NoteAnswer,
        user: i64,
        is_own_thread: bool,
    ) -> Result<Comment, HostError> {
        let is_own = is_own(&note, user);
        let permission = match &note.author {
            Some(author) if is_own_thread && !is_own => self.permission(author)?,
            _ => Permission::Outsider,
        };
        Ok(Comment {
            id: CommentId(note.id.to_string()),
            author: account(note.author.as_ref()),
            permission,
            is_edited: note.is_edited(),
            body: note.body,
            created: note.created_at,
            is_own,
        })
    }

    /// Returns the permission of a user in the project, even if the user is a member only through a group. The
    /// result is `Outsider` if the token is not allowed to read the membership.
    fn permission(&self, author: &GitLabUser) -> Result<Permission, HostError> {
        read_once(&self.permissions, author.id, || {
            let path = format!("{}/members/all/{}", self.project(), author.id);
            match self
                .transport
                .get::<MemberAnswer>(&path, "read the permission of a user")
            {
                Ok(member) if member.access_level >= MAINTAINER => Ok(Permission::Maintainer),
                Ok(member) if member.access_level >= DEVELOPER => Ok(Permission::Member),
                Ok(_) | Err(HostError::Forbidden { .. } | HostError::NotFound { .. }) => {
                    Ok(Permission::Outsider)
                }
                Err(error) => Err(error),
            }
        })
    }
}

fn is_own(note: &NoteAnswer, user: i64) -> bool {
    note.author.as_ref().is_some_and(|author| author.id == user)
}
