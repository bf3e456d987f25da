import os
import tempfile


def scratch(name, data):
    path = tempfile.mktemp()  # expect
    open("/tmp/report.txt", "w")  # expect
    log = "/tmp/shop.log"  # expect
    data.to_csv(f"/tmp/{name}.csv")  # expect


def safe(name):
    tempfile.mkstemp()  # ok: made at once
    with tempfile.NamedTemporaryFile() as file:  # ok: made at once
        file.write(b"x")
    open("/srv/reports/report.txt", "w")  # ok: its own folder
    print("see /tmp/ for leftovers")  # ok: only said
