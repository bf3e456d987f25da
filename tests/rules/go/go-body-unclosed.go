package shop

func fetch(client *http.Client, request *http.Request) string {
	resp, err := http.Get("https://example.com") // expect
	if err != nil {
		return ""
	}
	data := read(resp.Body)
	other, err := client.Do(request) // expect
	return data + other.Status
}

func post(client *http.Client) int {
	response, err := client.Post("https://example.com", "text/plain", nil) // expect
	if err != nil {
		return 0
	}
	return response.StatusCode
}

func safe(client *http.Client, request *http.Request) (string, error) {
	resp, err := client.Do(request) // ok: closed
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	return read(resp.Body), nil
}

func handedOver(client *http.Client, request *http.Request) (*http.Response, error) {
	resp, err := client.Do(request) // ok: the caller closes it
	return resp, err
}

func checked(client *http.Client, request *http.Request) error {
	resp, err := client.Do(request) // ok: closed by a helper
	defer drain(resp)
	return err
}
