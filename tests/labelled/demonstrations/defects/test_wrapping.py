import unittest

from store import wrapping


class Wrapping(unittest.TestCase):
    def test_wrapping(self):
        self.assertEqual(wrapping.wrapped("one two three", 7), ["one two", "three"])
