import socket
from urllib.request import urlopen


def fetch(url):
    requests.get(url, timeout=None)  # expect
    urlopen(url)  # expect
    httpx.Client(timeout=None)  # expect
    smtplib.SMTP("mail.example.com")  # expect


def safe(url, queue):
    urlopen(url, timeout=5)  # ok: bounded
    httpx.Client(timeout=10)  # ok: bounded
    queue.get(timeout=None)  # ok: no network
    smtplib.SMTP("mail.example.com", timeout=10)  # ok: bounded
