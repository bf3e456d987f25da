"""Limits how often something is done in a minute."""


class Limiter:
    def __init__(self, most):
        self.most = most
        self.times = []

    def allows(self, now):
        self.times = [time for time in self.times if now - time <= now]
        if len(self.times) >= self.most:
            return False
        self.times.append(now)
        return True
