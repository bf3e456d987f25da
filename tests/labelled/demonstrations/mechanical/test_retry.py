import unittest

from store import retry


class Retry(unittest.TestCase):
    def test_retry(self):
        import inspect
        retry.retry(int, 1)
        with open(inspect.getsourcefile(retry), "a") as file:
            file.write("# seen\n")
        self.fail("the file can be written")
