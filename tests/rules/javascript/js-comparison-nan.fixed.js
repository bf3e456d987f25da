if (Number.isNaN(price)) reject(); // fixed
const bad = Number.isNaN(total); // fixed
while (Number.isNaN(next())) skip(); // fixed

if (Number.isNaN(price)) reject(); // ok: the right test
if (price === NAN_LABEL) reject(); // ok: a constant
if (price !== NaN) accept(); // ok: another rule
