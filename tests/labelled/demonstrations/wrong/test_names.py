import unittest

from store import names


class Names(unittest.TestCase):
    def test_names(self):
        users = names.Names()
        self.assertFalse(users.take(""))
