package shop

func login(w http.ResponseWriter, token string) {
	http.SetCookie(w, &http.Cookie{Name: "session", Value: token}) // expect
	http.SetCookie(w, &http.Cookie{Name: "session", Value: token, HttpOnly: true}) // expect
	http.SetCookie(w, &http.Cookie{Name: "session", Value: token, Secure: false, HttpOnly: true}) // expect
}

func safe(w http.ResponseWriter, token string) {
	http.SetCookie(w, &http.Cookie{Name: "session", Value: token, Secure: true, HttpOnly: true}) // ok: both set
	http.SetCookie(w, &http.Cookie{Name: "session", MaxAge: -1}) // ok: removal
	use(Cookie{Name: "session"}) // ok: another type
}
