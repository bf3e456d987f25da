class Download extends HttpServlet {
    void doGet(HttpServletRequest request, HttpServletResponse response) throws IOException {
        new FileInputStream(request.getParameter("name")); // expect
        String name = request.getParameter("name");
        File file = new File(ROOT, name); // expect
        Files.readAllBytes(Paths.get(ROOT + "/" + name)); // expect
    }

    void unpack(ZipInputStream zip, File target) throws IOException {
        ZipEntry entry = zip.getNextEntry();
        File file = new File(target, entry.getName()); // expect
    }

    void safe(HttpServletRequest request) throws IOException {
        String name = request.getParameter("name");
        File file = new File(ROOT, name); // ok: checked
        if (!file.getCanonicalPath().startsWith(ROOT)) {
            throw new IOException(name);
        }
    }

    void constant(String name) throws IOException {
        new FileInputStream("menu.txt"); // ok: a constant
        new File(ROOT, name); // ok: nobody outside sends it
    }
}
