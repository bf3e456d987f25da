import requests


def fetch(url, session, client):
    requests.get(url, verify=True)  # fixed
    session.post(url, json={}, verify=True)  # fixed
    httpx.Client(verify=True)  # fixed
    Elasticsearch(url, verify_certs=True)  # fixed


def safe(url, token):
    requests.get(url, verify=True)  # ok: on
    requests.get(url, verify="/etc/ssl/ca.pem")  # ok: a private authority
    jwt.decode(token, verify=False)  # ok: no TLS
    requests.get(url)  # ok: on by default
