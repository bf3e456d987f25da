// @ts-ignore expect
const total: number = "12";
// @ts-nocheck expect
/* @ts-ignore */ // expect

// @ts-expect-error the test passes a string on purpose, ok: checked
const wrong: number = "12";
// ts-ignore is a word here, ok: no directive
const right = 12; // @see ts-ignore, ok: no directive
