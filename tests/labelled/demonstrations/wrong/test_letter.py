import unittest

from store import letter


class Letter(unittest.TestCase):
    def test_letter(self):
        self.assertEqual(letter.letter("{{name}}", {"name": "x"}), "{name}")
