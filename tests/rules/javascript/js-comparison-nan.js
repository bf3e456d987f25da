if (price === NaN) reject(); // expect
const bad = total == NaN; // expect
while (next() === Number.NaN) skip(); // expect

if (Number.isNaN(price)) reject(); // ok: the right test
if (price === NAN_LABEL) reject(); // ok: a constant
if (price !== NaN) accept(); // ok: another rule
