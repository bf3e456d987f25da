import unittest

from store import changes


class Changes(unittest.TestCase):
    def test_changes(self):
        self.assertEqual(changes.changes(["a"], ["a", "b"])["added"], ["b"])
