package shop

func ping(r *http.Request, host string) {
	exec.Command("sh", "-c", "ping "+host).Run() // expect
	exec.Command("bash", "-c", fmt.Sprintf("ping %s", host)).Run() // expect
	exec.CommandContext(ctx, "/bin/sh", "-c", host).Run() // expect
	exec.Command(r.FormValue("program")).Run() // expect
}

func safe(host string) {
	exec.Command("ping", host).Run() // ok: no shell
	exec.Command(os.Args[0], "run", host).Run() // ok: the program itself, no shell
	exec.Command("sh", "-c", "uptime").Run() // ok: a constant
	exec.CommandContext(ctx, "ping", host).Run() // ok: no shell
	exec.CommandContext(ctx, "sh", "-c", "uptime").Run() // ok: a constant
}
