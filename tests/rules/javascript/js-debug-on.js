const errorhandler = require("errorhandler");

function total(items) {
  debugger; // expect
  return items.length;
}
app.use(errorhandler()); // expect
const server = new ApolloServer({ schema, introspection: true }); // expect

if (process.env.NODE_ENV === "development") {
  app.use(errorhandler()); // ok: only in development
}
const quiet = new ApolloServer({ schema, introspection: false }); // ok: off
log.write({ debug: true }); // ok: something else
