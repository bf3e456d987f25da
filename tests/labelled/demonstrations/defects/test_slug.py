import unittest

from store import slug


class Slug(unittest.TestCase):
    def test_slug(self):
        self.assertEqual(slug.slug("A quiet  sea"), "a-quiet-sea")
