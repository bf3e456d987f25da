if (!Number.isNaN(price)) accept(); // fixed
const good = !Number.isNaN(total); // fixed
while (!Number.isNaN(next())) take(); // fixed

if (!Number.isNaN(price)) accept(); // ok: the right test
if (price !== NAN_LABEL) accept(); // ok: a constant
if (price === NaN) reject(); // ok: another rule
