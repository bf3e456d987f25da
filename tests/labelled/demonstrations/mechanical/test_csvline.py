import unittest

from store import csvline


class Csvline(unittest.TestCase):
    def test_csvline(self):
        values = {}
        self.assertEqual(csvline.line(values["row"]), "a")
