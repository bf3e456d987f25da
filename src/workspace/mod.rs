//! The reviewed tree: target selection, git plumbing, before-images, enclosing blocks.
