package shop

func count(mu sync.Mutex, total *int) { // expect
	mu.Lock()
	*total++
	mu.Unlock()
}

func wait(wg sync.WaitGroup) { // expect
	wg.Wait()
}

func read(lock sync.RWMutex) { // expect
	lock.RLock()
	lock.RUnlock()
}

func safe(mu *sync.Mutex, total *int) { // ok: a pointer
	mu.Lock()
	defer mu.Unlock()
	*total++
}

func locked(locker sync.Locker) { // ok: an interface
	locker.Lock()
	defer locker.Unlock()
}

func named(mu Mutex) { // ok: another type
	mu.Lock()
	mu.Unlock()
}
