import unittest

from store import csvline


class Csvline(unittest.TestCase):
    def test_csvline(self):
        import csv
        row = ['6" pipe, steel', "2"]
        self.assertEqual(next(csv.reader([csvline.line(row)])), row)
