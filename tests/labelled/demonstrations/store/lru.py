"""A cache that forgets what was not used for the longest time."""

from collections import OrderedDict


class Cache:
    def __init__(self, size):
        self.size = size
        self.entries = OrderedDict()

    def get(self, key):
        self.entries.move_to_end(key)
        return self.entries[key]

    def put(self, key, value):
        self.entries[key] = value
        if len(self.entries) > self.size:
            self.entries.popitem(last=True)
