class Loader {
    Object load(InputStream stream, XStream xstream, ObjectMapper mapper) throws Exception {
        Object order = new ObjectInputStream(stream).readObject(); // expect
        new XMLDecoder(stream); // expect
        xstream.fromXML(stream); // expect
        mapper.enableDefaultTyping(); // expect
        return order;
    }

    Order safe(InputStream stream, ObjectMapper mapper) throws Exception {
        ObjectInputStream in = new ObjectInputStream(stream);
        in.setObjectInputFilter(FILTER);
        in.readObject(); // ok: filtered
        return mapper.readValue(stream, Order.class); // ok: a fixed type
    }

    private void readObject(ObjectInputStream in) throws Exception {
        in.defaultReadObject(); // ok: the class's own fields
    }

    Object pem(PEMParser parser) throws IOException {
        return parser.readObject(); // ok: a key file
    }
}
