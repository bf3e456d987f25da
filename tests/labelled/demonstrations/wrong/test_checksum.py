import unittest

from store import checksum


class Checksum(unittest.TestCase):
    def test_checksum(self):
        import io
        self.assertEqual(len(checksum.checksum(io.BytesIO(b"x"))), 40)
