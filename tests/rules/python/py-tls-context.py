import ssl


def context(session, client):
    loose = ssl._create_unverified_context()  # expect
    ssl._create_default_https_context = ssl._create_unverified_context  # expect
    loose.check_hostname = False  # expect
    loose.verify_mode = ssl.CERT_NONE  # expect
    session.verify = False  # expect
    urllib3.PoolManager(cert_reqs="CERT_NONE")  # expect
    client.set_missing_host_key_policy(paramiko.AutoAddPolicy())  # expect


def asked_for(insecure):
    context = ssl.create_default_context()
    if insecure:
        context.check_hostname = False  # ok: somebody asked for it
        context.verify_mode = ssl.CERT_NONE  # ok: somebody asked for it
    return context


def safe(strict, client):
    strict = ssl.create_default_context()  # ok: strict
    strict.verify_mode = ssl.CERT_REQUIRED  # ok: required
    strict.check_hostname = True  # ok: on
    client.set_missing_host_key_policy(paramiko.RejectPolicy())  # ok: refuses
