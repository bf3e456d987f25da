import unittest

from store import slug


class Slug(unittest.TestCase):
    def test_slug(self):
        self.assertEqual(slug.slug("a"), "b"
