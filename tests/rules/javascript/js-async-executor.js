new Promise(async (resolve, reject) => { // expect
  resolve(await load());
});
const ready = new Promise(async function (resolve) { // expect
  resolve(await load());
});
const later = () => new Promise(async (resolve) => resolve(await load())); // expect

new Promise((resolve) => setTimeout(resolve, 100)); // ok: not asynchronous
const value = (async () => load())(); // ok: no executor
new Task(async () => load()); // ok: no promise
