class Hello extends HttpServlet {
    void doGet(HttpServletRequest request, HttpServletResponse response) throws IOException {
        PrintWriter out = response.getWriter();
        String name = request.getParameter("name");
        out.println("<h1>Hello " + request.getParameter("name") + "</h1>"); // expect
        response.getWriter().write(request.getParameter("name")); // expect
        out.print(name); // expect
    }

    void safe(HttpServletRequest request, HttpServletResponse response, String title) throws IOException {
        PrintWriter out = response.getWriter();
        out.println("<h1>Hello</h1>"); // ok: a constant
        out.println("<h1>" + HtmlUtils.htmlEscape(title) + "</h1>"); // ok: escaped
        out.println("Hello " + title); // ok: no markup
    }
}
