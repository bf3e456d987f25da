import unittest

from store import coverage_share


class CoverageShare(unittest.TestCase):
    def test_coverage_share(self):
        self.assertEqual(coverage_share.share({1}, {1}), 100)
        self.assertEqual(coverage.share({1}, {1}), 50)
