import yaml


def settings(text):
    yaml.load(text)  # expect
    yaml.load(text, Loader=yaml.Loader)  # expect
    yaml.load(text, yaml.FullLoader)  # expect
    yaml.unsafe_load(text)  # expect


def safe(text):
    yaml.safe_load(text)  # ok: safe
    yaml.load(text, Loader=yaml.SafeLoader)  # ok: a safe loader
    yaml.load(text, Loader=yaml.CSafeLoader)  # ok: a safe loader in C
    yaml.dump(text)  # ok: writing
