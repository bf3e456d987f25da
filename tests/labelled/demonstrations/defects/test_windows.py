import unittest

from store import windows


class Windows(unittest.TestCase):
    def test_windows(self):
        self.assertEqual(windows.averages([1, 3, 5], 2), [2, 4])
