//! Publishes a review on a pull request, and settles disputes in its conversation.
