DEBUG = True  # expect
app.debug = True  # expect
app.config["DEBUG"] = True  # expect

TEMPLATE_DEBUG = False  # ok: off
DEBUG_LOG = True  # ok: something else
DEBUG = os.environ.get("DEBUG") == "1"  # ok: from the environment
