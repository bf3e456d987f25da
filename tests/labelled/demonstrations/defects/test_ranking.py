import unittest

from store import ranking


class Ranking(unittest.TestCase):
    def test_ranking(self):
        ranks = ranking.Ranking()
        ranks.add("first", 5)
        ranks.add("second", 5)
        self.assertEqual(ranks.names(), ["first", "second"])
