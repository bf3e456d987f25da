fs.writeFileSync("/tmp/report.txt", data); // expect
const log = "/tmp/shop.log"; // expect
fs.createWriteStream(`/tmp/${name}.csv`); // expect
const file = path.join(os.tmpdir(), "report.txt"); // expect

const folder = fs.mkdtempSync(path.join(os.tmpdir(), "shop-")); // ok: made at once
fs.writeFileSync("/srv/reports/report.txt", data); // ok: its own folder
const own = path.join(os.tmpdir(), crypto.randomUUID()); // ok: cannot be guessed
console.log("see /tmp/ for leftovers"); // ok: only said
