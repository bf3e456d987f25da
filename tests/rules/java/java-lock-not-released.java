class Store {
    void add(Item item) {
        lock.lock(); // expect
        items.add(item);
        lock.unlock();
    }

    int read() {
        this.readLock.lock(); // expect
        int size = items.size();
        this.readLock.unlock();
        return size;
    }

    void move(Lock mutex) {
        mutex.lock(); // expect
        items.clear();
        mutex.unlock();
    }

    void safe(Item item) {
        lock.lock(); // ok: released on every way out
        try {
            items.add(item);
        } finally {
            lock.unlock();
        }
    }

    void begin() {
        lock.lock(); // ok: released by somebody else
    }

    void door(Door door) {
        door.lockUp(); // ok: no lock
        door.unlock();
    }
}
