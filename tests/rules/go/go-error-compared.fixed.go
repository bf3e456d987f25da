package shop

func find(err error) bool {
	if errors.Is(err, sql.ErrNoRows) { // fixed
		return false
	}
	if errors.Is(err, context.Canceled) { // fixed
		return false
	}
	return errors.Is(err, os.ErrNotExist) // fixed
}

func safe(err, other error) bool {
	if errors.Is(err, sql.ErrNoRows) { // ok: the right test
		return false
	}
	if err == nil { // ok: no error
		return true
	}
	return err == io.EOF // ok: readers return it as it is
}
