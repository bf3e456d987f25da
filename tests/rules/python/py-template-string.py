def page(request, env, name):
    render_template_string("<h1>Hello " + name + "</h1>")  # expect
    flask.render_template_string(f"<h1>{name}</h1>")  # expect
    env.from_string("Hello %s" % name)  # expect
    render_template_string(request.args.get("template"))  # expect


def safe(request, env, name):
    render_template_string("<h1>Hello {{ name }}</h1>", name=name)  # ok: a constant template
    render_template("hello.html", name=name)  # ok: a file
    env.from_string(TEMPLATE).render(name=name)  # ok: a constant
