package shop

var number = regexp.MustCompile(`^[A-z0-9]+$`) // expect
var name = regexp.MustCompile(`[^\w.-_]`) // expect
var mail, err = regexp.Compile("[a-z0-9.-_]+@") // expect

var safe = regexp.MustCompile(`^[A-Za-z0-9]+$`) // ok: two ranges
var last = regexp.MustCompile(`[\w._-]`) // ok: the hyphen is last
var escaped = regexp.MustCompile(`[\w.\-_]`) // ok: the hyphen is escaped
var text = "[A-z]" // ok: no pattern
