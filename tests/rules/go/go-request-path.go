package shop

import (
	"archive/zip"
	"net/http"
)

func download(w http.ResponseWriter, r *http.Request) {
	os.Open(filepath.Join(root, r.URL.Query().Get("name"))) // expect
	http.ServeFile(w, r, "files/"+r.FormValue("name")) // expect
	name := r.URL.Query().Get("name")
	os.ReadFile("files/" + name) // expect
}

func unpack(archive *zip.ReadCloser, target string) {
	for _, f := range archive.File {
		path := filepath.Join(target, f.Name) // expect
		write(path, f)
	}
}

func safe(w http.ResponseWriter, r *http.Request) {
	os.Open(filepath.Join(root, filepath.Base(r.FormValue("name")))) // ok: the base name
	name := r.FormValue("name")
	if !filepath.IsLocal(name) {
		return
	}
	os.ReadFile(name) // ok: checked
	os.ReadFile("files/menu.txt") // ok: a constant
}

func unpackSafely(archive *zip.ReadCloser, target string) {
	for _, f := range archive.File {
		path := filepath.Join(target, f.Name) // ok: checked
		if !strings.HasPrefix(path, target) {
			continue
		}
		write(path, f)
	}
}
