const fs = require("fs");
const path = require("path");

app.get("/files", (req, res) => {
  fs.readFile(path.join(ROOT, req.query.name), done); // expect
  res.sendFile(req.params.file); // expect
  fs.createReadStream(`/srv/files/${req.params.name}`); // expect
  const name = req.query.name;
  fs.readFileSync(path.join(ROOT, name)); // expect
  const { file } = req.body;
  fs.unlinkSync(ROOT + "/" + file); // expect
});

app.get("/safe", (req, res) => {
  fs.readFile(path.join(ROOT, path.basename(req.query.name)), done); // ok: the base name
  res.sendFile(req.params.file, { root: ROOT }); // ok: Express checks it
  fs.readFileSync(path.join(ROOT, "menu.txt")); // ok: a constant
  const wanted = path.resolve(ROOT, req.query.wanted);
  if (!wanted.startsWith(ROOT)) return;
  fs.readFileSync(wanted); // ok: checked
});
