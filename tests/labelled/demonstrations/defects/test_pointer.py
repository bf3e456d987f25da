import unittest

from store import pointer


class Pointer(unittest.TestCase):
    def test_pointer(self):
        self.assertEqual(pointer.parts("/a~01"), ["a~1"])
