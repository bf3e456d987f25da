import os

from flask import request, send_file
from werkzeug.utils import secure_filename


@app.route("/files")
def files():
    name = request.args.get("name")
    open(os.path.join(ROOT, name))  # expect
    send_file(request.args["path"])  # expect
    open(f"/srv/files/{name}")  # expect
    upload = request.files["upload"]
    upload.save(os.path.join(ROOT, upload.filename))  # expect
    os.remove(ROOT + "/" + name)  # expect


@app.route("/safe")
def safe():
    name = secure_filename(request.args.get("name"))
    open(os.path.join(ROOT, name))  # ok: cleaned
    upload = request.files["upload"]
    upload.save(os.path.join(ROOT, secure_filename(upload.filename)))  # ok: cleaned in place
    open(os.path.join(ROOT, "menu.txt"))  # ok: a constant
    send_file(REPORT)  # ok: a constant


def checked(request):
    wanted = request.args.get("wanted")
    if not os.path.abspath(wanted).startswith(ROOT):
        raise PermissionError(wanted)
    return open(wanted)  # ok: checked
