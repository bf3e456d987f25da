class Store {
    private static Store instance;
    private Cache cache;
    private Index index;
    private volatile Prices prices;

    static Store get() {
        if (instance == null) { // expect
            synchronized (Store.class) {
                if (instance == null) {
                    instance = new Store();
                }
            }
        }
        return instance;
    }

    Cache cache() {
        if (cache == null) { // expect
            synchronized (this) {
                if (cache == null) cache = new Cache();
            }
        }
        return cache;
    }

    Index index() {
        if (this.index == null) { // ok: no second check, another flaw
            synchronized (this) {
                index = new Index();
            }
        }
        if (index == null) { // expect
            synchronized (lock) {
                if (index == null) index = new Index();
            }
        }
        return index;
    }

    Prices prices() {
        if (prices == null) { // ok: volatile
            synchronized (this) {
                if (prices == null) prices = new Prices();
            }
        }
        return prices;
    }

    synchronized Cache locked() {
        if (cache == null) { // ok: one lock around it
            cache = new Cache();
        }
        return cache;
    }
}
