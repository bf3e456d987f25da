import unittest

from store import money


class Money(unittest.TestCase):
    def test_money(self):
        self.assertEqual(money.cents("0.29"), 29)
