package shop

func openUp(path string) {
	os.Chmod(path, 0777) // expect
	os.MkdirAll(path, 0o777) // expect
	os.WriteFile(path, data, 0666) // expect
	os.MkdirAll(path, os.ModePerm) // expect
}

func safe(path string) {
	os.Chmod(path, 0600) // ok: the owner
	os.MkdirAll(path, 0o755) // ok: others only read
	os.WriteFile(path, data, 0640) // ok: the group reads
	fmt.Println(0777) // ok: a number
}
