import unittest

from store import people


class People(unittest.TestCase):
    def test_people(self):
        self.assertEqual(people.salaries(people.opened(), "' OR '1'='1"), [])
