import yaml


def settings(text):
    yaml.safe_load(text)  # fixed
    yaml.safe_load(text)  # fixed
    yaml.safe_load(text)  # fixed
    yaml.safe_load(text)  # fixed


def safe(text):
    yaml.safe_load(text)  # ok: safe
    yaml.load(text, Loader=yaml.SafeLoader)  # ok: a safe loader
    yaml.load(text, Loader=yaml.CSafeLoader)  # ok: a safe loader in C
    yaml.dump(text)  # ok: writing
