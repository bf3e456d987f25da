package shop

func read(path string) error {
	page, err := load(path)
	if err != nil {} // expect
	for _, item := range page {
		err := save(item)
		if err != nil { continue } // expect
	}
	if err != nil { return nil } // expect
	return nil
}

func safe(path string) (*Page, error) {
	page, err := load(path)
	if err != nil { // ok: handed on
		return nil, err
	}
	if err := save(page); err != nil { // ok: logged
		log.Print(err)
	}
	return page, nil
}

func find(path string) *Page {
	page, err := load(path)
	if err != nil { return nil } // ok: there is no error to return
	return page
}
