"""Settings: read from a file that the shop's owner edits, and that others send in for help."""

import yaml


def read_settings(path):
    """The settings of the shop as a dictionary."""
    with open(path, encoding="utf-8") as file:
        return yaml.load(file, Loader=yaml.Loader)
