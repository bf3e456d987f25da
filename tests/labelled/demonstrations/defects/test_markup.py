import unittest

from store import markup


class Markup(unittest.TestCase):
    def test_markup(self):
        self.assertNotIn('onclick="', markup.link('x" onclick="steal()', "x"))
