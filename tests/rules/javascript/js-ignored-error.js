fs.readFile(path, (err, data) => { // expect
  show(data);
});
db.query(sql, function (error, rows) { // expect
  render(rows);
});
request(url, (err, response, body) => show(body)); // expect

fs.readFile(path, (err, data) => { // ok: checked
  if (err) throw err;
  show(data);
});
list.sort((e, f) => f - 1); // ok: no callback for errors
app.use((err, req, res, next) => res.end()); // ok: a middleware
load(path, (_, data) => show(data)); // ok: says that it is unused
