app.use(session({ secret, cookie: { secure: false } })); // expect
app.get("/login", (req, res) => {
  res.cookie("session", token, { httpOnly: true }); // expect
  res.cookie("session", token); // expect
  cookies.set("session", token, { httpOnly: false }); // expect
});

app.get("/safe", (req, res) => {
  res.cookie("session", token, { httpOnly: true, secure: true }); // ok: both set
  res.cookie("session", token, { ...options }); // ok: decided elsewhere
  res.clearCookie("session"); // ok: removal
  connect({ secure: false }); // ok: no cookie
});
