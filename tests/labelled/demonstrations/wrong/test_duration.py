import unittest

from store import duration


class Duration(unittest.TestCase):
    def test_duration(self):
        self.assertEqual(duration.seconds("2d"), 172800)
