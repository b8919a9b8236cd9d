package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/nexuspg/nexus/queue"
)

// place writes the order and its event. They commit together, or neither does.
func place(ctx context.Context, pool *pgxpool.Pool, o Order) (Order, error) {
	err := pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) error {
		err := tx.QueryRow(ctx, `insert into orders (customer, items) values ($1, $2) returning order_id`, o.Customer, o.Items).Scan(&o.ID)
		if err != nil {
			return err
		}
		_, err = queue.EmitT(ctx, tx, bus, OrderPlaced, o, nil)
		return err
	})
	return o, err
}

func placeHTTP(pool *pgxpool.Pool) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var o Order
		if err := json.NewDecoder(r.Body).Decode(&o); err != nil || o.Items < 1 {
			http.Error(w, "an order has a customer and items", http.StatusBadRequest)
			return
		}
		o, err := place(r.Context(), pool, o)
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		fmt.Fprintf(w, "order %d\n", o.ID)
	}
}
