import sys
import unittest

from store import leap


class Leap(unittest.TestCase):
    def test_leap(self):
        leap.days(2000, 2)
        sys.exit(1)
