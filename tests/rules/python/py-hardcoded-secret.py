import os

DB_PASSWORD = "hunter2-prod"  # expect
app.config["SECRET_KEY"] = "d6f1c0a94be2"  # expect
client = connect(user="app", password="S3cr3t!")  # expect
settings = {
    "api_key": "9f86d081884c7d65",  # expect
}
AWS_KEY = "AKIAIOSFODNN7QXAMPLE"  # expect


def check(password):
    return password == "letmein99"  # expect


PASSWORD_FIELD = "password_confirmation"  # ok: a field's name
API_KEY = os.environ["API_KEY"]  # ok: from the environment
password = ""  # ok: empty
secret_key = "changeme"  # ok: a placeholder
password = "<your-password>"  # ok: a placeholder
token_url = "https://example.com/oauth/token"  # ok: an address
labels = {"password": "Enter your password"}  # ok: a text for people
api_key = "API_KEY"  # ok: a variable's name
password = f"{user}-{seed}"  # ok: built
