import unittest

from store import settings


class Settings(unittest.TestCase):
    def test_settings(self):
        defaults = {"ui": {"color": "auto", "pager": "less"}}
        settings.merged(defaults, {"ui": {"color": "never"}})
        self.assertEqual(defaults["ui"]["color"], "auto")
