fn write(file: &mut File, path: &Path) {
    let _ = file.write_all(b"order"); // expect
    file.flush().ok(); // expect
    let _ = std::fs::rename(path, TARGET); // expect
    let _ = transaction.commit(); // expect
}

fn safe(file: &mut File, sender: &Sender<u32>) -> Result<()> {
    file.write_all(b"order")?; // ok: handed on
    let _ = sender.send(1); // ok: nobody may listen any more
    let _ = std::fs::remove_file(SCRATCH); // ok: it may be gone
    let text = file.flush().ok(); // ok: looked at
    Ok(())
}
