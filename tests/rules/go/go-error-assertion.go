package shop

func price(err error) int {
	if timeout, ok := err.(net.Error); ok { // expect
		return timeout.Code()
	}
	notFound, ok := err.(*NotFoundError) // expect
	if _, ok := readErr.(Temporary); ok { // expect
		return 0
	}
	return notFound.Code
}

func safe(err error, item any) bool {
	syntax, ok := err.(*json.SyntaxError) // ok: the package returns it as it is
	var missing *NotFoundError
	if errors.As(err, &missing) { // ok: looks through the chain
		return true
	}
	_, ok := err.(closedError) // ok: a type of the package alone
	order, ok := item.(Order) // ok: no error
	return ok
}

func (e NotFoundError) Is(err error) bool {
	_, ok := err.(NotFoundError) // ok: compares one error
	return ok
}
