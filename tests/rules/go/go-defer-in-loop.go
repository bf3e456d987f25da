package shop

func read(paths []string) {
	for _, path := range paths {
		file := open(path)
		defer file.Close() // expect
	}
	for i := 0; i < 3; i++ {
		mu.Lock()
		defer mu.Unlock() // expect
	}
	for {
		conn := dial()
		defer conn.Close() // expect
	}
}

func first(paths []string) {
	for _, path := range paths {
		file := open(path)
		defer file.Close() // ok: the loop ends here
		use(file)
		break
	}
}

func safe(paths []string) {
	defer file.Close() // ok: no loop
	for _, path := range paths {
		func() {
			file := open(path)
			defer file.Close() // ok: its own function
		}()
		go func() {
			defer wg.Done() // ok: its own function
		}()
	}
}
