//! What only Gitea and Forgejo do.
