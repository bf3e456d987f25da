import unittest

from store import tasks


class Tasks(unittest.TestCase):
    def test_tasks(self):
        queue = tasks.Tasks()
        queue.add(1, "wash")
        queue.add(1, "dry")
        self.assertEqual(queue.next(), "wash")
