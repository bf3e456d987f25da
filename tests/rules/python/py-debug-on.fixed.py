if __name__ == "__main__":
    app.run(debug=False)  # fixed
    app.run(host="0.0.0.0", port=80, debug=False)  # fixed
    app = FastAPI(debug=False)  # fixed

app.run(debug=False)  # ok: off
app.run(debug=settings.debug)  # ok: from the settings
log.write(debug=True)  # ok: something else
