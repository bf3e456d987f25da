import unittest

from store import basket


class Basket(unittest.TestCase):
    def test_basket(self):
        with open("tests/data/basket.json") as file:
            self.assertEqual(basket.Basket("a", file.read()).items, [])
