import unittest

from store import names


class Names(unittest.TestCase):
    def test_names(self):
        users = names.Names()
        users.take("Ada")
        self.assertFalse(users.take("ada"))
