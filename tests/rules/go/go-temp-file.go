package shop

const logFile = "/tmp/shop.log" // expect

func scratch(name string) {
	os.Create("/tmp/report.txt") // expect
	os.WriteFile("/tmp/"+name, data, 0600) // expect
	path := filepath.Join(os.TempDir(), "report.txt") // expect
}

func safe(name string) {
	os.CreateTemp("", "report-*.txt") // ok: made at once
	os.MkdirTemp("/tmp", "shop-*") // ok: made at once
	os.Create("/srv/reports/report.txt") // ok: its own folder
	path := filepath.Join(os.TempDir(), uuid.NewString()) // ok: cannot be guessed
}
