import jinja2
from jinja2 import Environment, select_autoescape


def build(loader):
    Environment(loader=loader)  # expect
    jinja2.Environment(loader=loader, trim_blocks=True)  # expect
    Environment(loader=loader, autoescape=False)  # expect


def safe(loader, options):
    Environment(loader=loader, autoescape=True)  # ok: on
    jinja2.Environment(autoescape=select_autoescape())  # ok: by file type
    Environment(**options)  # ok: decided elsewhere
    build.Environment(loader)  # ok: not Jinja's
