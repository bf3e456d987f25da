import unittest

from store import leap


class Leap(unittest.TestCase):
    def test_leap(self):
        self.assertEqual(leap.days(1900, 2), 28)
