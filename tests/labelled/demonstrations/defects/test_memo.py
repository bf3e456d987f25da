import unittest

from store import memo


class Memo(unittest.TestCase):
    def test_memo(self):
        power = memo.Memo(pow)
        power(2, 31)
        self.assertEqual(power(23, 1), 23)
