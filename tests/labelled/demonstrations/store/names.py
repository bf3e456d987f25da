"""Names of users, whose case does not matter."""


class Names:
    def __init__(self):
        self.taken = set()

    def take(self, name):
        if name.lower() in self.taken:
            return False
        self.taken.add(name)
        return True
