import unittest

from store import versions


class Versions(unittest.TestCase):
    def test_versions(self):
        self.assertEqual(versions.newest(["1.9.0", "1.10.0"]), "1.10.0")
