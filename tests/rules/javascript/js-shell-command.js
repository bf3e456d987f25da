const { exec, execSync, spawn } = require("child_process");

function ping(host, req) {
  exec("ping -c 1 " + host); // expect
  execSync(`ping ${host}`); // expect
  child_process.exec(`ping ${host}`, done); // expect
  exec(req.query.command); // expect
  spawn(`ping ${host}`, { shell: true }); // expect
  spawn("sh", ["-c", host]); // expect
}

function safe(host, pattern) {
  execFile("ping", [host]); // ok: no shell
  exec("uptime"); // ok: a constant
  spawn("ping", [host]); // ok: no shell
  pattern.exec(`ping ${host}`); // ok: a regular expression
  db.exec("PRAGMA foreign_keys"); // ok: a constant
  spawn("sh", ["-c", "uptime"]); // ok: a constant
}
