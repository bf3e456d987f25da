const LOG: &str = "/tmp/shop.log"; // expect

fn scratch(name: &str) {
    let file = File::create("/tmp/report.txt"); // expect
    fs::write(format!("/tmp/{name}.csv"), b""); // expect
    let path = std::env::temp_dir().join("report.txt"); // expect
}

fn safe(name: &str) {
    let file = tempfile::NamedTempFile::new(); // ok: made at once
    let folder = tempfile::tempdir(); // ok: made at once
    let path = std::env::temp_dir().join(Uuid::new_v4().to_string()); // ok: cannot be guessed
    let report = File::create("/srv/reports/report.txt"); // ok: its own folder
}
