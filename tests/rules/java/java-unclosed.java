class Reader {
    String read(Path path, Connection connection) throws Exception {
        BufferedReader reader = new BufferedReader(new FileReader("menu.txt")); // expect
        String line = reader.readLine();
        reader.close();
        Statement statement = connection.createStatement(); // expect
        statement.execute("SELECT 1");
        FileOutputStream out = new FileOutputStream("menu.txt"); // expect
        out.write(1);
        return line;
    }

    String safe(Path path) throws IOException {
        try (BufferedReader reader = new BufferedReader(new FileReader("menu.txt"))) { // ok: closed by the statement
            return reader.readLine();
        }
    }

    String careful(Path path) throws IOException {
        FileReader reader = new FileReader("menu.txt"); // ok: closed on every way out
        try {
            return scan(reader);
        } finally {
            reader.close();
        }
    }

    FileReader open() throws IOException {
        FileReader reader = new FileReader("menu.txt"); // ok: the caller closes it
        return reader;
    }
}
