import unittest

from store import tasks


class Tasks(unittest.TestCase):
    def test_tasks(self):
        tasks.Tasks().add("urgent", "a")
