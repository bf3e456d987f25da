"""Tests of the catalog. Run them in this folder: python3 -m unittest discover tests"""

import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from orders.catalog import Article, cache_key, total  # noqa: E402


class Catalog(unittest.TestCase):
    def test_cache_key_is_stable(self):
        self.assertEqual(cache_key("en", 1), cache_key("en", 1))
        self.assertNotEqual(cache_key("en", 1), cache_key("de", 1))

    def test_total_is_in_cents(self):
        self.assertEqual(total([Article("1", "cup", 450), Article("2", "pot", 1999)]), 2449)


if __name__ == "__main__":
    unittest.main()
