import pdb


def total(items):
    pass  # fixed
    pass  # fixed
    pass  # fixed
    return sum(items)


def safe(items, tracer):
    tracer.set_trace()  # ok: some other tracer
    pdb.post_mortem()  # ok: asked for
    print("breakpoint()")  # ok: a string
