function read(text) {
  libxml.parseXml(text, { noent: true }); // expect
  libxmljs.parseXmlString(text, { noblanks: true, noent: true }); // expect
  new XMLReader(text, { expandEntities: true }); // expect
}

function safe(text) {
  libxml.parseXml(text, { noent: false }); // ok: off
  libxml.parseXml(text); // ok: off by default
  configure({ noent: true }); // ok: no parser
}
