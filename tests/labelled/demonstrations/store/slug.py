"""Names of pages in addresses."""

import re


def slug(title):
    words = re.sub(r"[^a-z0-9 ]", "", title.lower())
    return re.sub(r" +", "-", words.strip(), count=1)
