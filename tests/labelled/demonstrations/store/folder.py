"""Files below one folder."""

import os.path


class Folder:
    def __init__(self, root):
        self.root = os.path.abspath(root)

    def path(self, name):
        """The path of a file below the folder; refuses every other one."""
        path = os.path.join(self.root, name)
        if not path.startswith(self.root):
            raise PermissionError(name)
        return path
