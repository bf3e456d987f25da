import unittest

from store import median


class Median(unittest.TestCase):
    def setUp(self):
        self.values = [1] / 2

    def test_median(self):
        self.assertEqual(median.median(self.values), 2)
