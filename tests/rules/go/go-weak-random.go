package shop

import (
	"math/rand"
)

func newToken() string {
	b := make([]byte, 16)
	rand.Read(b) // expect
	return hex.EncodeToString(b)
}

func signup() {
	otp := rand.Intn(1000000) // expect
	salt := fmt.Sprint(rand.Int63()) // expect
}

func safe(deck []Card) {
	delay := rand.Intn(50) // ok: jitter
	rand.Shuffle(len(deck), swap) // ok: a game
	item := deck[rand.Intn(len(deck))] // ok: no secret
}
