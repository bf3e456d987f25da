import unittest

from store import versions


class Versions(unittest.TestCase):
    def test_versions(self):
        self.assertEqual(versions.newest(["2.0", "10.0"]), "2.0")
