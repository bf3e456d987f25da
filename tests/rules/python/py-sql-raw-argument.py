def search(cursor, name, order, where):
    sql = "SELECT id FROM users"
    sql += " WHERE name = '%s'" % name  # expect
    sql += f" ORDER BY {order}"  # expect
    cursor.execute(sql)


def count(db, name):
    where = " WHERE name = '" + name + "'"  # expect
    return db.execute(where)


def safe(cursor, name, log):
    sql = "SELECT id FROM users"
    sql += " WHERE name = ?"  # ok: a parameter
    text = f"searching for {name} in users"  # ok: never executed
    log.info(text)
    note = "found in " + name  # ok: not a statement
    cursor.execute(sql, (name,))


def rendered(name):
    sql = f"-- where {name}"  # ok: not executed here
    return sql
