# Glee records which lines of the tree a demonstration executes, and whether the process that reports the result comes
# to its end with the code of the runner that is installed.


def _trace():
    import atexit
    import os
    import sys
    import threading

    path = os.environ.get("GLEE_TRACE")
    root = os.environ.get("GLEE_TRACE_ROOT")
    if not path or not root:
        return
    root = os.path.realpath(root) + os.sep
    out = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    names = {}
    seen = set()
    texts = {}

    def name_of(file):
        if file not in names:
            real = "" if file.startswith("<") else os.path.realpath(file)
            names[file] = real[len(root):] if real.startswith(root) else None
        return names[file]

    def defines(file, line):
        # A definition is executed when its module is imported, and what it defines is not.
        if file not in texts:
            try:
                with open(file, encoding="utf-8", errors="replace") as source:
                    texts[file] = source.read().split("\n")
            except OSError:
                texts[file] = []
        text = texts[file][line - 1].lstrip() if line <= len(texts[file]) else ""
        return text.startswith(("def ", "async def ", "class ", "@"))

    def on_line(frame, event, argument):
        if event == "line":
            code = frame.f_code
            key = (code.co_filename, frame.f_lineno)
            # 1 is CO_OPTIMIZED: the code of a function, and not of a module or a class.
            if key not in seen and (code.co_flags & 1 or not defines(*key)):
                seen.add(key)
                text = "%d:%s\n" % (frame.f_lineno, name_of(code.co_filename))
                os.write(out, text.encode("utf-8", "surrogateescape"))
        return on_line

    def on_call(frame, event, argument):
        return on_line if name_of(frame.f_code.co_filename) else None

    def functions(owner):
        for value in list(vars(owner).values()):
            value = getattr(value, "__func__", value)
            if isinstance(value, type(functions)):
                yield value
            elif isinstance(value, type) and value is not owner and value.__module__ == owner.__name__:
                yield from functions(value)

    def is_patched(name, module):
        if name.partition(".")[0] not in ("unittest", "_pytest", "pluggy"):
            return False
        own = name_of(getattr(module, "__file__", None) or "")
        return own or any(name_of(one.__code__.co_filename) for one in functions(module))

    def on_exit():
        # A forked process has the handlers of its parent.
        if os.getpid() == process:
            modules = list(sys.modules.items())
            word = "patched" if any(is_patched(*item) for item in modules) else "ended"
            os.write(out, ("%s:%d\n" % (word, process)).encode())

    process = os.getpid()
    os.write(out, ("began:%d\n" % process).encode())
    # The first handler is called last.
    atexit.register(on_exit)
    threading.settrace(on_call)
    sys.settrace(on_call)


_trace()
del _trace
