import unittest

from store import folder


class Folder(unittest.TestCase):
    def test_folder(self):
        with self.assertRaises(PermissionError):
            folder.Folder("/srv/files").path("../../etc/passwd")
