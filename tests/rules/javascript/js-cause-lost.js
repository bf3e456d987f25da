function read(path) {
  try {
    return load(path);
  } catch {
    throw new Error("the basket cannot be read"); // expect
  }
}

function open(path) {
  try {
    return load(path);
  } catch (error) {
    log.info("no basket");
    throw new TypeError(`${path} is no basket`); // expect
  }
}

function get(path) {
  try {
    return load(path);
  } catch (error) {
    throw new BasketError(path); // expect
  }
}

function safe(path) {
  try {
    return load(path);
  } catch (error) {
    throw new Error("the basket cannot be read", { cause: error }); // ok: handed on
  }
}

function rethrown(path) {
  try {
    return load(path);
  } catch (error) {
    throw error; // ok: the same error
  }
}

function explained(path) {
  try {
    return load(path);
  } catch {
    // `load` only says that the file is missing.
    throw new Error(`${path} is missing`); // ok: says why
  }
}
