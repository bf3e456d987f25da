//! Says which fields of a recorded form are left out.

/// Whether a field of a recorded form is left out, because its absence says the same.
pub(crate) fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}
