package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/nexuspg/nexus/webhook/signature"
)

// receiver is the other side: a service that trusts nothing but a good signature, and does nothing twice.
type receiver struct {
	key  signature.Key
	seen func(eventType, id string)

	mu    sync.Mutex
	posts int
	done  map[string]bool // ids; a real service keeps them in its database, with what it did
}

func (r *receiver) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, req.Body, 1<<20))
	if err != nil {
		w.WriteHeader(http.StatusRequestEntityTooLarge)
		return
	}
	if err := signature.Verify(req.Header, body, time.Now(), r.key); err != nil {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	var event struct {
		ID   string `json:"id"`
		Type string `json:"type"`
		Data struct {
			Order int `json:"order"`
		} `json:"data"`
	}
	if err := json.Unmarshal(body, &event); err != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.posts++; r.posts == 1 {
		fmt.Println("busy, come back in a second")
		w.Header().Set("Retry-After", "1")
		w.WriteHeader(http.StatusServiceUnavailable)
		return
	}
	if id := req.Header.Get(signature.HeaderID); !r.done[id] {
		r.done[id] = true
		fmt.Println(event.Type, "of order", event.Data.Order)
	}
	w.WriteHeader(http.StatusNoContent)
	r.seen(event.Type, event.ID)
}
