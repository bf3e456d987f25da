import requests


def fetch(url, session, options):
    requests.get(url, timeout=30)  # fixed
    requests.post(url, json={"a": 1}, timeout=30)  # fixed
    session.get(url, headers={}, timeout=30)  # fixed


def safe(url, session, options, cache):
    requests.get(url, timeout=5)  # ok: bounded
    requests.get(url, **options)  # ok: decided elsewhere
    cache.get(url)  # ok: no request
    requests.Session()  # ok: no request yet
