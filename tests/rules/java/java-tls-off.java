class Trust implements X509TrustManager {
    public void checkServerTrusted(X509Certificate[] chain, String type) {} // expect

    public void checkClientTrusted(X509Certificate[] chain, String type) { // expect
        log.debug(type);
    }

    public boolean isServerTrusted(X509Certificate[] chain) { // expect
        return true;
    }

    public boolean verify(String host, SSLSession session) { // expect
        return true;
    }

    void connect(HttpsURLConnection connection) {
        connection.setHostnameVerifier((host, session) -> true); // expect
        builder.setSSLHostnameVerifier(NoopHostnameVerifier.INSTANCE); // expect
    }
}

class SafeTrust implements X509TrustManager {
    public void checkServerTrusted(X509Certificate[] chain, String type) throws CertificateException { // ok: delegates
        delegate.checkServerTrusted(chain, type);
    }

    public boolean verify(String host, SSLSession session) { // ok: a check of its own
        return host.equals(expected);
    }

    public boolean verify(String code) { // ok: no host name
        return true;
    }
}
