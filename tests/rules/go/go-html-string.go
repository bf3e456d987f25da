package shop

func hello(w http.ResponseWriter, r *http.Request) {
	name := r.FormValue("name")
	fmt.Fprintf(w, "<h1>Hello %s</h1>", name) // expect
	html := template.HTML(name) // expect
	w.Write([]byte("<b>" + name + "</b>")) // expect
	fmt.Fprint(w, r.FormValue("name")) // expect
	show(template.HTML("<b>" + name + "</b>")) // expect
}

func safe(w http.ResponseWriter, name string) {
	fmt.Fprintf(w, "Hello %s", name) // ok: no markup
	html := template.HTML("<b>new</b>") // ok: a constant
	fmt.Fprintf(w, "<b>%s</b>", template.HTMLEscapeString(name)) // ok: escaped
	fmt.Fprintf(file, "<b>%s</b>", name) // ok: not a page
}
