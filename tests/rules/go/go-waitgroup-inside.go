package shop

func run(items []Item) {
	var wg sync.WaitGroup
	for _, item := range items {
		go func() {
			wg.Add(1) // expect
			defer wg.Done()
			save(item)
		}()
	}
	go func(item Item) {
		wg.Add(1) // expect
		save(item)
	}(items[0])
	go func() { wg.Add(2); work() }() // expect
	wg.Wait()
}

func safe(items []Item) {
	var wg sync.WaitGroup
	wg.Add(len(items)) // ok: before the goroutines
	for _, item := range items {
		wg.Add(1) // ok: before the goroutine
		go func() {
			total.Add(1) // ok: a counter
			wg.Done()
		}()
	}
}
