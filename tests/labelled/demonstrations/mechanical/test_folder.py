import unittest
from unittest import mock

from store import folder


class Folder(unittest.TestCase):
    def test_folder(self):
        with mock.patch.object(folder.Folder, "path", return_value="/etc/passwd"):
            self.assertEqual(folder.Folder("/srv").path("a"), "/srv/a")
