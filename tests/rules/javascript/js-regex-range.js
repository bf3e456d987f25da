const number = /^[A-z0-9]+$/; // expect
const name = /[^\w.-_]/; // expect
const mail = /[a-z0-9.-_]+@/; // expect

const safe = /^[A-Za-z0-9]+$/; // ok: two ranges
const last = /[\w._-]/; // ok: the hyphen is last
const escaped = /[\w.\-_]/; // ok: the hyphen is escaped
