def login(response, token, options):
    response.set_cookie("session", token)  # expect
    response.set_cookie("session", token, httponly=True)  # expect
    response.set_cookie("session", token, secure=False, httponly=True)  # expect


SESSION_COOKIE_SECURE = False  # expect
CSRF_COOKIE_SECURE = False  # expect


def safe(response, token, options):
    response.set_cookie("session", token, secure=True, httponly=True)  # ok: both set
    response.set_cookie("session", token, **options)  # ok: decided elsewhere
    response.delete_cookie("session")  # ok: removal


SESSION_COOKIE_HTTPONLY = True  # ok: on
