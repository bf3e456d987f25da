import unittest

from store import pages


class Pages(unittest.TestCase):
    def test_pages(self):
        self.assertEqual(pages.pages(list("abcde"), 2), 3)
