import unittest

from store import checksum


class Checksum(unittest.TestCase):
    def test_checksum(self):
        import hashlib, io
        data = b"x" * 5000
        self.assertEqual(checksum.checksum(io.BytesIO(data)), hashlib.sha256(data).hexdigest())
