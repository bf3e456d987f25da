import unittest

from store import rent


class Rent(unittest.TestCase):
    def test_rent(self):
        from datetime import date
        self.assertEqual(rent.next_month(date(2026, 1, 31)), date(2026, 3, 3))
