import unittest

from store import header


class Header(unittest.TestCase):
    def test_header(self):
        self.assertEqual(header.header("Host: localhost:8080"), ("host", "localhost:8080"))
