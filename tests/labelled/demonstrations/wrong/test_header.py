import unittest

from store import header


class Header(unittest.TestCase):
    def test_header(self):
        self.assertEqual(header.header("Host: x"), ("Host", "x"))
