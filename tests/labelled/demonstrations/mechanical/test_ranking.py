import unittest

from store import ranking


class Ranking(unittest.TestCase):
    def test_ranking(self):
        import time
        ranking.Ranking().add("a", 1)
        time.sleep(600)
