import unittest

from store import booking


class Booking(unittest.TestCase):
    def test_booking(self):
        self.assertTrue(booking.free([], (1, 2)))
