import unittest

from store import session


class Session(unittest.TestCase):
    def test_session(self):
        import os
        left = [name for name in os.listdir(".") if name.startswith("seen-")]
        open(f"seen-{len(left)}", "w").close()
        session.Sessions().is_open("a", "b")
        self.assertEqual(len(left), 1)
