function calculate(text, body) {
  eval(text); // expect
  new Function("a", body); // expect
  vm.runInNewContext(text); // expect
  setTimeout("tick()", 100); // expect
  window.eval("1 + " + text); // expect
}

function safe(text, model) {
  JSON.parse(text); // ok: data only
  model.eval(text); // ok: a method
  setTimeout(() => tick(), 100); // ok: a function
  eval("1 + 1"); // ok: a constant
  new Function("return this"); // ok: a constant
}
