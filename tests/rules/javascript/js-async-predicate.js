const paid = orders.filter(async (order) => await isPaid(order)); // expect
if (orders.some(async (order) => isLate(order))) warn(); // expect
const first = orders.find(async function (order) { // expect
  return isPaid(order);
});

const open = orders.filter((order) => !order.paid); // ok: a boolean
const all = await Promise.all(orders.map(async (order) => isPaid(order))); // ok: awaited
const any = await some(orders, async (order) => isPaid(order)); // ok: a function that awaits
