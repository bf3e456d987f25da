import unittest

from store import windows


class Windows(unittest.TestCase):
    def test_windows(self):
        self.assertEqual(windows.windows([1, 2], 3), [[1, 2]])
