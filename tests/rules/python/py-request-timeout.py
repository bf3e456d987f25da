import requests


def fetch(url, session, options):
    requests.get(url)  # expect
    requests.post(url, json={"a": 1})  # expect
    session.get(url, headers={})  # expect


def safe(url, session, options, cache):
    requests.get(url, timeout=5)  # ok: bounded
    requests.get(url, **options)  # ok: decided elsewhere
    cache.get(url)  # ok: no request
    requests.Session()  # ok: no request yet
