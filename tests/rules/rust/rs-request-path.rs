use zip::ZipArchive;

fn unpack(target: &Path, archive: &mut ZipArchive<File>) {
    let file = archive.by_index(0);
    let place = target.join(file.name()); // expect
    let other = target.join(entry.path()?); // expect
    let clean = target.join(file.enclosed_name()?); // ok: checked
}

async fn download(Path(name): Path<String>) -> Result<Vec<u8>> {
    let bytes = fs::read(format!("files/{name}"))?; // expect
    let file = File::open(ROOT.join(&name))?; // expect
    Ok(bytes)
}

async fn safe(Path(name): Path<String>) -> Result<Vec<u8>> {
    let path = ROOT.join(&name).canonicalize()?;
    if !path.starts_with(ROOT) {
        return Err(Error::Outside);
    }
    Ok(fs::read(path)?) // ok: checked
}

fn load(name: &str) -> Result<Vec<u8>> {
    Ok(fs::read(ROOT.join(name))?) // ok: nobody outside sends it
}
