package shop

func price(value any, items []any) int {
	total := value.(int) // expect
	item := items[0].(Item) // expect
	return total + value.(Priced).Price() + item.Price // expect
}

func safe(value any) int {
	total, ok := value.(int) // ok: checked
	if item, ok := value.(Item); ok { // ok: checked
		return item.Price
	}
	buffer := pool.Get().(*bytes.Buffer) // ok: the pool's own
	switch v := value.(type) { // ok: a switch
	case int:
		return v
	}
	return total
}
