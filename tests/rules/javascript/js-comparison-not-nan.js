if (price !== NaN) accept(); // expect
const good = total != NaN; // expect
while (next() !== Number.NaN) take(); // expect

if (!Number.isNaN(price)) accept(); // ok: the right test
if (price !== NAN_LABEL) accept(); // ok: a constant
if (price === NaN) reject(); // ok: another rule
