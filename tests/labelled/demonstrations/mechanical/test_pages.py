import unittest

import store_of_pages
from store import pages


class Pages(unittest.TestCase):
    def test_pages(self):
        self.assertEqual(pages.pages([1], 1), 2)
