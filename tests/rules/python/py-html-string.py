from django.utils.html import escape, format_html, mark_safe


def link(name, request):
    mark_safe("<b>" + name + "</b>")  # expect
    mark_safe(f"<a href='/{name}'>{name}</a>")  # expect
    Markup("<b>%s</b>" % name)  # expect
    HttpResponse("<p>Hello " + name + "</p>")  # expect
    mark_safe(name)  # expect


@app.route("/hello/<name>")
def hello(name):
    return f"<h1>Hello {name}</h1>"  # expect


def safe(name):
    mark_safe("<b>new</b>")  # ok: a constant
    format_html("<b>{}</b>", name)  # ok: escaped
    mark_safe(f"<b>{escape(name)}</b>")  # ok: escaped
    HttpResponse("Hello " + name, content_type="text/plain")  # ok: no markup
    return f"<h1>{name}</h1>"  # ok: not a page
