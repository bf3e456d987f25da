fs.chmodSync(path, 0o777); // expect
fs.chmod(path, "0666", done); // expect
fs.mkdirSync(path, { recursive: true, mode: 0o777 }); // expect
process.umask(0); // expect

fs.chmodSync(path, 0o600); // ok: the owner
fs.mkdirSync(path, { mode: 0o755 }); // ok: others only read
process.umask(0o077); // ok: strict
