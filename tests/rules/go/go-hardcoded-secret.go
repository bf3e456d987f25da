package shop

const dbPassword = "hunter2-prod" // expect

var apiKey = "9f86d081884c7d65" // expect

func connect() {
	secret := "S3cr3t!" // expect
	config := Config{Password: "letmein99", User: "app"} // expect
	jwtKey := []byte("shop-jwt-2021") // expect
	request.SetBasicAuth("app", "d6f1c0a94be2") // expect
	token.SignedString([]byte("shop-jwt-2021")) // expect
}

const passwordField = "password_confirmation" // ok: a field's name
const secretKey = "changeme" // ok: a placeholder
const apiToken = "API_TOKEN" // ok: a variable's name

func safe() {
	password := os.Getenv("PASSWORD") // ok: from the environment
	empty := Config{Password: ""} // ok: empty
	labels := map[string]string{"password": "Enter your password"} // ok: a text for people
	tokenURL := "https://example.com/oauth/token" // ok: an address
}
