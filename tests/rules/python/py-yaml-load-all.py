import yaml


def documents(text):
    yaml.load_all(text)  # expect
    yaml.load_all(text, Loader=yaml.UnsafeLoader)  # expect
    yaml.full_load_all(text)  # expect


def safe(text):
    yaml.safe_load_all(text)  # ok: safe
    yaml.load_all(text, Loader=yaml.SafeLoader)  # ok: a safe loader
    yaml.dump_all(text)  # ok: writing
