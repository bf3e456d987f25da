function generateToken() {
  return Math.random().toString(36).slice(2); // expect
}

const makeSessionId = () => Math.random().toString(16); // expect

function signup(user) {
  const resetToken = Math.random().toString(36); // expect
  user.otp = Math.floor(100000 + Math.random() * 900000); // expect
}

function safe(items) {
  const token = crypto.randomBytes(16).toString("hex"); // ok: the system's generator
  const delay = 100 + Math.random() * 50; // ok: jitter
  const item = items[Math.floor(Math.random() * items.length)]; // ok: no secret
}
