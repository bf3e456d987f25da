def add(self, lock, total):
    lock.acquire()  # expect
    self.total += total
    lock.release()


def move(self):
    self._lock.acquire()  # expect
    self.place += 1
    self._lock.release()


def take(mutex, items):
    mutex.acquire()  # expect
    items.pop()
    mutex.release()


def safe(lock, items):
    with lock:  # ok: released on every way out
        items.pop()
    lock.acquire()  # ok: released in finally
    try:
        items.pop()
    finally:
        lock.release()


def start(lock):
    lock.acquire()  # ok: released by somebody else


def board(plane):
    plane.acquire()  # ok: no lock
    plane.release()
