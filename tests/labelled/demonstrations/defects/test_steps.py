import unittest

from store import steps


class Steps(unittest.TestCase):
    def test_steps(self):
        with self.assertRaises(ValueError):
            steps.ordered({"a": ["b"], "b": ["a"]})
