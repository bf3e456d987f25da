import unittest

from store import steps


class Steps(unittest.TestCase):
    def test_steps(self):
        self.assertEqual(steps.ordered({"b": [], "a": []}), ["a", "b"])
