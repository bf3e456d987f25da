import unittest

from store import grid


class Grid(unittest.TestCase):
    def test_grid(self):
        self.assertEqual(grid.turned([[1, 2, 3]]), [[1], [2], [3]])
