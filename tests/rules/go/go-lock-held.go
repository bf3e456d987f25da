package shop

func (s *Store) add(item Item) {
	s.mu.Lock() // expect
	s.items = append(s.items, item)
}

func (s *Store) read() int {
	s.mu.RLock() // expect
	return len(s.items)
}

func count(mu *sync.Mutex) {
	mu.Lock() // expect
	total++
}

func (s *Store) safe(item Item) {
	s.mu.Lock() // ok: released
	defer s.mu.Unlock()
	s.items = append(s.items, item)
}

func (s *Store) Lock() {
	s.mu.Lock() // ok: it is the lock
}

func (s *Store) short(item Item) {
	s.mu.Lock() // ok: released
	s.items = append(s.items, item)
	s.mu.Unlock()
}
