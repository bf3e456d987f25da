class Reader {
    Document read(InputStream stream) throws Exception {
        DocumentBuilderFactory factory = DocumentBuilderFactory.newInstance(); // expect
        return factory.newDocumentBuilder().parse(stream);
    }

    void stream(Reader reader) throws Exception {
        XMLInputFactory.newInstance().createXMLStreamReader(reader); // expect
        SAXParserFactory.newInstance().newSAXParser(); // expect
    }
}

class SafeReader {
    Document read(InputStream stream) throws Exception {
        DocumentBuilderFactory factory = DocumentBuilderFactory.newInstance(); // ok: switched off
        factory.setFeature("http://apache.org/xml/features/disallow-doctype-decl", true);
        return factory.newDocumentBuilder().parse(stream);
    }

    void stream(Reader reader) throws Exception {
        XMLInputFactory factory = XMLInputFactory.newInstance(); // ok: switched off
        factory.setProperty(XMLInputFactory.SUPPORT_DTD, false);
        XPathFactory.newInstance(); // ok: reads no document
    }
}
