import unittest

from store import bank


class Bank(unittest.TestCase):
    def test_bank(self):
        accounts = bank.Bank({"ada": 10})
        accounts.transfer("ada", "nobody", 4)
        self.assertEqual(accounts.balances["ada"], 10)
