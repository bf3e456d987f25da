"""A list of scores, the best first; who came first stands before an equal score."""


class Ranking:
    def __init__(self):
        self.rows = []

    def add(self, name, score):
        at = 0
        while at < len(self.rows) and self.rows[at][1] > score:
            at += 1
        self.rows.insert(at, (name, score))

    def names(self):
        return [name for name, _ in self.rows]
