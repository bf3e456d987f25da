class Worker {
    void run() {
        try {
            Thread.sleep(100);
        } catch (InterruptedException e) { // expect
        }
        try {
            queue.take();
        } catch (InterruptedException e) { // expect
            e.printStackTrace();
        }
        try {
            latch.await();
        } catch (InterruptedException ignored) { // expect
            // nothing
        }
    }

    void safe() throws InterruptedException {
        Thread.sleep(100); // ok: handed on
        try {
            queue.take();
        } catch (InterruptedException e) { // ok: restored
            Thread.currentThread().interrupt();
        }
        try {
            load();
        } catch (IOException e) { // ok: another exception
        }
    }
}
