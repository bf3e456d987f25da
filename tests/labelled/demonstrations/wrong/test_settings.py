import unittest

from store import settings


class Settings(unittest.TestCase):
    def test_settings(self):
        self.assertIsNone(settings.merged({"a": 1}, {"a": 2})["a"])
