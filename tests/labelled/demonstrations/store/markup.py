"""Elements of a page."""


def escaped(text):
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def link(address, text):
    return f'<a href="{escaped(address)}">{escaped(text)}</a>'
