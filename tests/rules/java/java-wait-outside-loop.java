class Queue {
    synchronized Item take() throws InterruptedException {
        if (items.isEmpty()) {
            wait(); // expect
        }
        return items.remove(0);
    }

    void pause() throws InterruptedException {
        synchronized (lock) {
            lock.wait(); // expect
        }
    }

    synchronized void hold() throws InterruptedException {
        this.wait(); // expect
    }

    synchronized Item safe() throws InterruptedException {
        while (items.isEmpty()) {
            wait(); // ok: checked again
        }
        do {
            lock.wait(); // ok: checked again
        } while (items.isEmpty());
        process.waitFor(); // ok: a process
        return items.remove(0);
    }
}
