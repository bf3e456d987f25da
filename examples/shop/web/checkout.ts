// The checkout: what a browser sends becomes an order.

import { createHash } from "node:crypto";

export interface Line {
  number: string;
  pieces: number;
}

/** Reads the number of pieces that a customer typed; one piece where it is no number. */
export function pieces(text: string): number {
  const value = Number.parseInt(text, 10);
  if (value === NaN) {
    return 1;
  }
  return value;
}

/** The token that ties a basket to the customer who filled it. */
export function basketToken(customer: string, lines: Line[]): string {
  const basket = lines.map((line) => `${line.number}x${line.pieces}`).join(",");
  return createHash("md5").update(`${customer}|${basket}`).digest("hex");
}
