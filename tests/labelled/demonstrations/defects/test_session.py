import unittest

from store import session


class Session(unittest.TestCase):
    def test_session(self):
        self.assertFalse(session.Sessions().is_open("mallory", ""))
