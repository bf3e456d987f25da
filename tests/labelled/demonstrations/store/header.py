"""Headers of a message."""


def header(line):
    parts = line.split(":")
    return parts[0].strip().lower(), parts[1].strip()


def headers(text):
    return dict(header(line) for line in text.splitlines() if line.strip())
