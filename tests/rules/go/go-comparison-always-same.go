package shop

func check(order, other Order, items []Item) bool {
	if order.Total == order.Total { // expect
		return true
	}
	if len(items) >= 0 { // expect
		return true
	}
	return order.Price == math.NaN() // expect
}

func safe(order, other Order, items []Item) bool {
	if order.Total == other.Total { // ok: two values
		return true
	}
	if len(items) > 0 { // ok: may be empty
		return true
	}
	return next() == next() // ok: two calls
}
