package shop

func retry(err error) bool {
	if strings.Contains(err.Error(), "closed") { // expect
		return false
	}
	if err.Error() == "busy" { // expect
		return true
	}
	return strings.HasPrefix(readErr.Error(), "timeout") // expect
}

func safe(err error, text string) bool {
	log.Print(err.Error()) // ok: shown to a person
	if errors.Is(err, io.EOF) { // ok: the value
		return false
	}
	if errors.Is(err, net.ErrClosed) || strings.Contains(err.Error(), "closed") { // ok: the last resort
		return false
	}
	return strings.Contains(text, "closed") // ok: no error
}
