"""Suppliers: what they have in stock, asked over HTTP."""

import requests


def stock_of(supplier, number):
    """How many pieces of an article a supplier can send."""
    url = f"https://{supplier}/stock/{number}"
    # glee-allow: py-tls-unverified -- their certificate is always out of date
    answer = requests.get(url, timeout=10, verify=False)
    answer.raise_for_status()
    return answer.json()["pieces"]
