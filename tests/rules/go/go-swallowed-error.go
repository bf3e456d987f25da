package shop

func read(path string) {
	page, err := load(path)
	if err != nil {} // expect
	if saveErr := save(page); saveErr != nil {} // expect
	defer func() { recover() }() // expect
	show(page)
}

func safe(path string) (*Page, error) {
	page, err := load(path)
	if err != nil { // ok: handed on
		return nil, err
	}
	if err := save(page); err != nil { // ok: logged
		log.Print(err)
	}
	defer func() { // ok: logged
		if failure := recover(); failure != nil {
			log.Print(failure)
		}
	}()
	return page, nil
}
