import unittest

from store import duration


class Duration(unittest.TestCase):
    def test_duration(self):
        self.assertEqual(duration.seconds("1h30m"), 5400)
