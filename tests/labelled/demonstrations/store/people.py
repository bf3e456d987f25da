"""People in a database."""

import sqlite3


def opened():
    db = sqlite3.connect(":memory:")
    db.execute("CREATE TABLE people (name TEXT, salary INTEGER)")
    db.execute("INSERT INTO people VALUES ('ada', 9), ('bob', 5)")
    return db


def salaries(db, name):
    found = db.execute(f"SELECT salary FROM people WHERE name = '{name}'")
    return [salary for (salary,) in found]
