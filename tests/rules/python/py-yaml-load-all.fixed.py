import yaml


def documents(text):
    yaml.safe_load_all(text)  # fixed
    yaml.safe_load_all(text)  # fixed
    yaml.safe_load_all(text)  # fixed


def safe(text):
    yaml.safe_load_all(text)  # ok: safe
    yaml.load_all(text, Loader=yaml.SafeLoader)  # ok: a safe loader
    yaml.dump_all(text)  # ok: writing
