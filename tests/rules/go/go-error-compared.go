package shop

func find(err error) bool {
	if err == sql.ErrNoRows { // expect
		return false
	}
	if err == context.Canceled { // expect
		return false
	}
	return err == os.ErrNotExist // expect
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
