class Client {
    void fetch(URL url, Socket socket) throws IOException {
        HttpURLConnection connection = (HttpURLConnection) url.openConnection(); // expect
        socket.setSoTimeout(0); // expect
        HttpClient client = HttpClient.newHttpClient(); // expect
        connection.connect();
    }

    void safe(URL url, Socket socket) throws IOException {
        URLConnection connection = url.openConnection(); // ok: bounded
        connection.setConnectTimeout(1000);
        connection.setReadTimeout(1000);
        socket.setSoTimeout(1000); // ok: bounded
        HttpClient.newBuilder().connectTimeout(Duration.ofSeconds(5)).build(); // ok: bounded
    }
}
