import unittest

from store import people

people.salaries = None


class People(unittest.TestCase):
    def test_people(self):
        self.assertEqual(people.salaries(people.opened(), "ada"), [5])
