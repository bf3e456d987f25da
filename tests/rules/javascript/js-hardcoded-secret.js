const password = "hunter2-prod"; // expect
const config = {
  apiKey: "9f86d081884c7d65", // expect
  db: { password: 'S3cr3t!' }, // expect
};
app.secret = "d6f1c0a94be2"; // expect
const jwtSecret = process.env.JWT_SECRET || "shop-jwt-2021"; // expect
jwt.sign({ id: 1 }, "shop-jwt-2021"); // expect

const apiKeyFromEnv = process.env.API_KEY; // ok: from the environment
const emptyPassword = { password: "" }; // ok: empty
const secretKey = "changeme"; // ok: a placeholder
const labels = { password: "Enter your password" }; // ok: a text for people
const accessToken = "access_token"; // ok: a field's name
const token = `Bearer ${value}`; // ok: built
const types = { password: "password" }; // ok: a field's type
const accessKey = "settings.api.key"; // ok: a key of the settings
