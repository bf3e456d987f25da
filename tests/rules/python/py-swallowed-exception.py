import contextlib


def read(path, log):
    try:
        return load(path)
    except Exception:  # expect
        pass
    try:
        return load(path)
    except:  # expect
        pass
    for item in path:
        try:
            item.load()
        except Exception as error:  # expect
            continue
    with contextlib.suppress(Exception):  # expect
        load(path)


def safe(path, log):
    try:
        return load(path)
    except Exception:  # ok: says why below
        # A page that cannot be drawn is left out.
        pass
    try:
        return load(path)
    except FileNotFoundError:  # ok: one that is expected
        pass
    try:
        return load(path)
    except Exception:  # ok: logged
        log.exception("load failed")
    try:
        return load(path)
    except Exception as error:  # ok: raised again
        raise RuntimeError(path) from error
    with contextlib.suppress(FileNotFoundError):  # ok: one that is expected
        load(path)
