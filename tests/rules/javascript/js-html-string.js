function show(node, name, comment) {
  node.innerHTML = "<b>" + name + "</b>"; // expect
  node.innerHTML = comment; // expect
  document.write(`<p>${name}</p>`); // expect
  node.insertAdjacentHTML("beforeend", `<li>${name}</li>`); // expect
  $("#list").append("<li>" + name + "</li>"); // expect
}

app.get("/hello", (req, res) => {
  res.send(`<h1>Hello ${req.query.name}</h1>`); // expect
});

function safe(node, name, res) {
  node.textContent = name; // ok: text
  node.innerHTML = ""; // ok: a constant
  node.innerHTML = "<b>new</b>"; // ok: a constant
  node.innerHTML = DOMPurify.sanitize(name); // ok: cleaned
  node.innerHTML = `<b>${escapeHtml(name)}</b>`; // ok: escaped
  res.send(`Hello ${name}`); // ok: no markup
  $("#list").append(name); // ok: may be an element
}
