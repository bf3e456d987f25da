import pdb


def total(items):
    breakpoint()  # expect
    pdb.set_trace()  # expect
    ipdb.set_trace()  # expect
    return sum(items)


def safe(items, tracer):
    tracer.set_trace()  # ok: some other tracer
    pdb.post_mortem()  # ok: asked for
    print("breakpoint()")  # ok: a string
