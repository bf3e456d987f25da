import unittest

from store import median


class Median(unittest.TestCase):
    def test_median(self):
        self.assertEqual(median.median([1, 2, 3, 10]), 2.5)
