import unittest

from store import retry


class Retry(unittest.TestCase):
    def test_retry(self):
        calls = []

        def flaky():
            calls.append(1)
            if len(calls) < 3:
                raise OSError("down")
            return "up"

        try:
            answer = retry.retry(flaky, 3)
        except OSError:
            answer = None
        self.assertEqual(answer, "up")
