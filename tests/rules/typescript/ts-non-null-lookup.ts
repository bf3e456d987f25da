export function price(items: Item[], prices: Map<string, number>, sku: string): number {
  const item = items.find((item) => item.sku === sku)!; // expect
  const cents = prices.get(sku)!; // ok: asked for right before
  const key = process.env.PRICE_KEY!; // expect
  return items.find((item) => item.sku === key)!.price; // expect
}

export function safe(items: Item[], prices: Map<string, number>, sku: string, form: Form): number {
  const item = items.find((item) => item.sku === sku); // ok: checked below
  if (!item) throw new Error(sku);
  const cents = prices.get(sku) ?? 0; // ok: a default
  return form.price!.value; // ok: no lookup
}
