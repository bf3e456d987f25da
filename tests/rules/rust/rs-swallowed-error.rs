fn read(path: &Path) {
    match load(path) {
        Ok(page) => show(page),
        Err(_) => {} // expect
    }
    match load(path) {
        Ok(page) => show(page),
        Err(e) => (), // expect
    }
    if let Err(error) = save(path) {} // expect
}

fn safe(path: &Path) -> Result<()> {
    match load(path) {
        Ok(page) => show(page),
        Err(error) => log(error), // ok: logged
    }
    match load(path) {
        Ok(page) => show(page),
        Err(Error::NotFound) => {} // ok: one that is expected
        Err(error) => return Err(error), // ok: handed on
    }
    Ok(())
}
