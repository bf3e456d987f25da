"""Accounts of a bank."""


class Bank:
    def __init__(self, balances):
        self.balances = dict(balances)

    def transfer(self, giver, taker, amount):
        self.balances[giver] -= amount
        if taker not in self.balances:
            return False
        self.balances[taker] += amount
        return True
