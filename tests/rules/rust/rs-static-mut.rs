static mut COUNTER: u32 = 0; // expect
pub static mut CACHE: Option<Cache> = None; // expect
static mut TABLE: [u8; 4] = [0; 4]; // expect

static TOTAL: AtomicU32 = AtomicU32::new(0); // ok: atomic
static SHARED: Mutex<u32> = Mutex::new(0); // ok: locked
unsafe impl Sync for Cache {} // ok: a promise of its author
