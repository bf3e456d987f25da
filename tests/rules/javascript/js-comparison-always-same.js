if (order.total === order.total) pay(); // expect
if (order.state === "paid" || "sent") ship(); // expect
if ((order.paid = true)) ship();
if (order.paid = true) ship(); // expect
if (basket === []) hide(); // expect
if (typeof total === "strnig") parse(); // expect

if (order.total === other.total) pay(); // ok: two values
if (order.state === "paid" || order.state === "sent") ship(); // ok: two comparisons
if (next() === next()) pair(); // ok: two calls
if (typeof total === "string") parse(); // ok: a type
const label = order.state === "paid" || "open"; // ok: a default
