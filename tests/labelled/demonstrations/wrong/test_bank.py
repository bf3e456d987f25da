import unittest

from store import bank


class Bank(unittest.TestCase):
    def test_bank(self):
        accounts = bank.Bank({"ada": 1, "bob": 0})
        self.assertFalse(accounts.transfer("ada", "bob", 5))
