import requests


def fetch(url, session, client):
    requests.get(url, verify=False)  # expect
    session.post(url, json={}, verify=False)  # expect
    httpx.Client(verify=False)  # expect
    Elasticsearch(url, verify_certs=False)  # expect


def safe(url, token):
    requests.get(url, verify=True)  # ok: on
    requests.get(url, verify="/etc/ssl/ca.pem")  # ok: a private authority
    jwt.decode(token, verify=False)  # ok: no TLS
    requests.get(url)  # ok: on by default
