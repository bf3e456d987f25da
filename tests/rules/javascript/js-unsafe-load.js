const serialize = require("node-serialize");
const v8 = require("v8");

function load(data) {
  serialize.unserialize(data); // expect
  v8.deserialize(data); // expect
  yaml.load(data, { schema: yaml.DEFAULT_FULL_SCHEMA }); // expect
}

function safe(data) {
  JSON.parse(data); // ok: data only
  yaml.load(data); // ok: safe since version 4
  v8.serialize(data); // ok: writing
}
