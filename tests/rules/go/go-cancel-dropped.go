package shop

func start(parent context.Context) {
	ctx, _ := context.WithTimeout(parent, time.Second) // expect
	other, _ := context.WithCancel(parent) // expect
	ctx, _ = context.WithDeadline(parent, soon) // expect
	use(ctx, other)
}

func safe(parent context.Context) {
	ctx, cancel := context.WithTimeout(parent, time.Second) // ok: kept
	defer cancel()
	value := context.WithValue(ctx, key, 1) // ok: nothing to cancel
	page, _ := find(value) // ok: another call
	use(page)
}
