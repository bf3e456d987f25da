import unittest

from store import booking


class Booking(unittest.TestCase):
    def test_booking(self):
        self.assertFalse(booking.free([(60, 90)], (80, 100)))
