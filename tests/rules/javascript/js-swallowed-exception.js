function read(path) {
  try {
    return load(path);
  } catch (error) {} // expect
  try {
    return load(path);
  } catch {} // expect
  load(path).catch(() => {}); // expect
  try {
    return load(path);
  } catch (error) { /* ignore */ } // expect
}

function safe(path, log) {
  try {
    return load(path);
  } catch (error) { // ok: logged
    log.error(error);
  }
  try {
    return load(path);
  } catch { // ok: says why
    // A missing file is an empty basket.
  }
  load(path).catch((error) => log.error(error)); // ok: logged
  load(path).catch(() => null); // ok: a value for the failure
}
