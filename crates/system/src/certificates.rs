//! The certificates of the authorities that the user trusts.

use std::path::Path;

use rustls_native_certs::{CertificateResult, load_certs_from_paths, load_native_certs};

/// Returns the certificates in the file that the first set variable of `variables` names, in DER. If none is set,
/// returns the certificates of the operating system, and `None` if it has none. Fails if the named file has no
/// certificates.
pub fn trusted(
    variables: &[&str],
    env: &dyn Fn(&str) -> Option<String>,
) -> Result<Option<Vec<Vec<u8>>>, String> {
    let named = variables
        .iter()
        .find_map(|name| Some((name, env(name).filter(|path| !path.is_empty())?)));
    let CertificateResult { certs, errors, .. } = match &named {
        Some((_, path)) => load_certs_from_paths(Some(Path::new(path)), None),
        None => load_native_certs(),
    };
    let found: Vec<Vec<u8>> = certs.iter().map(|one| one.as_ref().to_vec()).collect();
    match (named, found.is_empty()) {
        (Some((name, _)), true) => Err(match errors.first() {
            Some(error) => format!("the file of {name} cannot be read: {error}"),
            None => format!("the file of {name} contains no certificate"),
        }),
        (_, is_empty) => Ok((!is_empty).then_some(found)),
    }
}
