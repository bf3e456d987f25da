class Worker {
    void start(Runnable task) {
        new Thread(task).run(); // expect
        Thread thread = new Thread(task);
        thread.run(); // expect
        new Thread(() -> work()).run(); // expect
    }

    void safe(Runnable task, Worker worker) {
        new Thread(task).start(); // ok: started
        task.run(); // ok: a task
        worker.run(); // ok: no thread
    }
}
