def by_name(cursor, name):
    cursor.execute(f"SELECT id FROM users WHERE name = '{name}'")  # expect
    cursor.execute("SELECT id FROM users WHERE name = '%s'" % name)  # expect
    cursor.execute("SELECT id FROM users WHERE name = '" + name + "'")  # expect
    cursor.execute("DELETE FROM users WHERE name = '{}'".format(name))  # expect
    query = "UPDATE users SET name = '" + name + "' WHERE id = 1"  # expect
    return f"select * from users where name = {name!r}"  # expect


def safe(cursor, name, ids, log):
    cursor.execute("SELECT id FROM users WHERE name = ?", (name,))  # ok: a parameter
    cursor.execute(f"SELECT id FROM {TABLE} WHERE name = ?", (name,))  # ok: a constant
    cursor.execute(f"SELECT id FROM users WHERE id IN ({','.join('?' * len(ids))})", ids)  # ok: placeholders
    cursor.execute("SELECT id FROM users LIMIT %d" % int(name))  # ok: a number
    cursor.execute("SELECT id " + "FROM users")  # ok: two constants
    log.info(f"select {name} from the menu")  # ok: no SQL
    raise ValueError(f"Select one from {ids}")  # ok: a message
