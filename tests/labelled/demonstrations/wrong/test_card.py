import unittest

from store import card


class Card(unittest.TestCase):
    def test_card(self):
        self.assertFalse(card.is_valid("4539148803436467"))
