import unittest

from store import letter


class Letter(unittest.TestCase):
    def test_letter(self):
        with self.assertRaises(KeyError):
            letter.letter("Dear {name}", {})
