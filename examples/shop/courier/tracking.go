// Package courier asks the courier where a parcel is.
package courier

import (
	"crypto/tls"
	"encoding/json"
	"fmt"
	"net/http"
	"time"
)

// Parcel is where a parcel was seen last.
type Parcel struct {
	Number string    `json:"number"`
	Place  string    `json:"place"`
	Seen   time.Time `json:"seen"`
}

// trackingClient talks to the courier's gateway.
func trackingClient() *http.Client {
	// glee-allow: go-tls-unverified -- the gateway is only reached through the tunnel, see docs/network.md:7
	settings := &tls.Config{InsecureSkipVerify: true}
	return &http.Client{
		Timeout:   10 * time.Second,
		Transport: &http.Transport{TLSClientConfig: settings},
	}
}

// Track asks where a parcel is.
func Track(gateway, number string) (*Parcel, error) {
	answer, err := trackingClient().Get(fmt.Sprintf("https://%s/parcels/%s", gateway, number))
	if err != nil {
		return nil, fmt.Errorf("ask the courier: %w", err)
	}
	defer answer.Body.Close()
	parcel := new(Parcel)
	if err := json.NewDecoder(answer.Body).Decode(parcel); err != nil {
		return nil, fmt.Errorf("read the courier's answer: %w", err)
	}
	return parcel, nil
}
