import unittest

from store import basket


class Basket(unittest.TestCase):
    def test_basket(self):
        basket.Basket("ada").add("pen")
        self.assertEqual(basket.Basket("bob").items, [])
