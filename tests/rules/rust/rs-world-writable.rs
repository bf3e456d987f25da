fn open_up(path: &Path, file: &File) {
    fs::set_permissions(path, Permissions::from_mode(0o777)); // expect
    permissions.set_mode(0o666); // expect
    OpenOptions::new().mode(0o622).open(path); // expect
}

fn safe(path: &Path) {
    fs::set_permissions(path, Permissions::from_mode(0o600)); // ok: the owner
    permissions.set_mode(0o755); // ok: others only read
    OpenOptions::new().mode(0o640).open(path); // ok: the group reads
}
