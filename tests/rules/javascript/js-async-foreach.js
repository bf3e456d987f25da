orders.forEach(async (order) => { // expect
  await ship(order);
});
orders.forEach(async function (order) { // expect
  await ship(order);
});
load().items.forEach(async (item) => await save(item)); // expect

for (const order of orders) await ship(order); // ok: one after another
Promise.all(orders.map(async (order) => ship(order))); // ok: waits for all
orders.forEach((order) => print(order)); // ok: not asynchronous
