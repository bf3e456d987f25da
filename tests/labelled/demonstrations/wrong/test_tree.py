import unittest

from store import tree


class Tree(unittest.TestCase):
    def test_tree(self):
        self.assertEqual(tree.depth(None), 1)
