package demo

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/deadletter"
	"github.com/nexuspg/nexus/node"
	"github.com/nexuspg/nexus/queue"
	"github.com/nexuspg/nexus/trigger"
)

const (
	parcels    = 12
	misspelled = 7 // the parcel whose status nobody knows

	parcelRows   = "rows.parcels" // the collection of the watched table
	parcelStatus = nexus.EventType[int]("parcel.status")
	arrived      = "delivered"
	noStatus     = "no such status" // the reason of a rejection

	writeTold = `insert into demo.told (parcel_id, node) values ($1, $2)`
)

// parcel is a row of demo.parcels.
type parcel struct {
	ID     int    `json:"parcel_id"`
	Status string `json:"status"`
}

// watchParcels watches a table, and has what changes in it delivered to a handler of the nodes and to the carrier, a receiver of webhooks.
func (d *demo) watchParcels(ctx context.Context) error {
	if _, err := d.owner.Exec(ctx, `insert into demo.parcels (parcel_id, status) select g, 'sent' from generate_series(1, $1::int) g`, parcels); err != nil {
		return err
	}
	if _, err := trigger.WatchTable(ctx, d.owner, namespace, "demo.parcels", parcelRows, nil); err != nil {
		return err
	}
	url, err := d.listen(ctx, &d.carrier, &receiver{}, "/parcels", func(url string) (string, error) {
		made, err := trigger.CreateHandler(ctx, d.owner, namespace, "webhook:carrier", &trigger.HandlerOptions{URL: url, Insecure: true})
		return made.Secret, err
	})
	if err != nil {
		return err
	}
	for name, target := range map[string]string{"parcel-moved": "go:tell", "parcel-posted": "webhook:carrier"} {
		_, err := trigger.Create(ctx, d.owner, trigger.Trigger{
			Namespace: namespace, Name: name, Target: target,
			KV: &trigger.KV{Collection: parcelRows, Ops: []string{"update"}, Columns: []string{"status"}},
		})
		if err != nil {
			return err
		}
	}
	d.tell("table demo.parcels is watched: when a status changes, triggers have a handler called and a signed CloudEvent sent to %s", url)
	return nil
}

// handleParcels has a node tell of parcels and answer what becomes of one.
func handleParcels(n *node.Node, db nexus.DBTX, h handler, name string) {
	n.Triggers().On("tell", func(ctx context.Context, tx pgx.Tx, d *nexus.Delivery) error { return h(ctx, tx, d, name) })
	node.OnRequest(n, parcelStatus, func(ctx context.Context, d *nexus.DeliveryOf[int]) (status string, err error) {
		err = db.QueryRow(ctx, `select status from demo.parcels where parcel_id = $1`, d.Payload).Scan(&status)
		return status, err
	})
}

// changed is the row that a delivery of the table is about.
func changed(d *nexus.Delivery) (p parcel, err error) {
	var m trigger.Mutation
	if err := d.Decode(&m); err != nil {
		return p, err
	}
	return p, json.Unmarshal(m.New, &p)
}

// tellOfParcel takes only a status that it knows.
func tellOfParcel(ctx context.Context, tx pgx.Tx, d *nexus.Delivery, name string) error {
	p, err := changed(d)
	if err != nil {
		return err
	}
	if p.Status != arrived {
		return nexus.Reject(noStatus)
	}
	_, err = tx.Exec(ctx, writeTold, p.ID, name)
	return err
}

// deliverParcels is an ordinary update of the business. It knows nothing of Nexus.
func (d *demo) deliverParcels(ctx context.Context) error {
	_, err := d.app.Exec(ctx, `update demo.parcels set status = case parcel_id when $1 then 'deliverd' else $2 end`, misspelled, arrived)
	return err
}

// mendParcel claims the dead letter of the misspelled status and replays it with the right one.
func (d *demo) mendParcel(ctx context.Context) error {
	f := deadletter.Filter{Namespace: namespace, Source: "trigger", Trigger: "parcel-moved", Reason: noStatus, Limit: 1}
	if err := d.wait(ctx, "the misspelled parcel to be buried", `select exists (
		select from core.unresolved_dead_letters l where l.namespace = $1 and l.reason = $2)`, namespace, noStatus); err != nil {
		return err
	}
	claimed, err := deadletter.Claim(ctx, d.owner, f, patience)
	if err != nil {
		return err
	}
	if len(claimed) != 1 {
		return fmt.Errorf("%w: %d dead letters of the misspelled parcel are claimed, not 1", ErrWrong, len(claimed))
	}
	var m trigger.Mutation
	if err := json.Unmarshal(claimed[0].Payload, &m); err != nil {
		return err
	}
	if m.New, err = json.Marshal(parcel{ID: misspelled, Status: arrived}); err != nil {
		return err
	}
	edited, err := json.Marshal(m)
	if err != nil {
		return err
	}
	if _, err := deadletter.ReplayClaimed(ctx, d.owner, claimed[0], edited); err != nil {
		return err
	}
	if _, err := d.app.Exec(ctx, `update demo.parcels set weighed = true`); err != nil { // no status: no trigger fires
		return err
	}
	d.tell("the dead letter of parcel %d, %q, is claimed, edited and replayed; the ledger keeps what it was", misspelled, noStatus)
	return nil
}

// askForParcels asks the nodes for the status of each parcel.
func (d *demo) askForParcels(ctx context.Context) error {
	bus := queue.Emitter{Namespace: namespace, Producer: "demo"}
	for id := range parcels {
		status, err := queue.Request[string](ctx, d.app, bus, parcelStatus, id+1)
		if err != nil {
			return err
		}
		d.answers = append(d.answers, status)
	}
	d.tell("%d requests are answered by the node that is left", len(d.answers))
	return nil
}

// Parcels is what was counted of triggers and requests.
type Parcels struct {
	Told     int64 // parcels that the handler has an effect of
	Posted   int64 // that the carrier took, each as a CloudEvent with a good signature
	Mended   int64 // dead letters that were replayed with another payload, and keep theirs
	Answered int64 // requests whose reply is what the table has
	Lost     int64 // parcels that one of the two was not told of
	Doubled  int64 // effects beyond the first of each, and what came that no update was behind
	Refused  int64 // signatures that were not good
}

func (p *Parcels) String() string {
	return fmt.Sprintf("parcels: told=%d posted=%d mended=%d answered=%d lost=%d doubled=%d refused=%d",
		p.Told, p.Posted, p.Mended, p.Answered, p.Lost, p.Doubled, p.Refused)
}

func (p *Parcels) judge() error {
	var found faults
	if p.Lost != 0 {
		found.add("%d changes of parcels did not come to a target of their triggers", p.Lost)
	}
	if p.Doubled != 0 {
		found.add("%d effects of parcels are too many", p.Doubled)
	}
	if p.Refused != 0 {
		found.add("%d POSTs to the carrier were not signed well, or are no CloudEvents", p.Refused)
	}
	if p.Mended != 1 {
		found.add("%d dead letters of parcels were replayed and keep their payload, not 1", p.Mended)
	}
	if p.Answered != parcels {
		found.add("%d of %d requests were answered right", p.Answered, parcels)
	}
	return found.err()
}

func countParcels(ctx context.Context, db nexus.DBTX, r *receiver, answers []string) (*Parcels, error) {
	p := &Parcels{}
	r.mu.Lock()
	p.Refused = int64(r.refused)
	r.mu.Unlock()
	err := db.QueryRow(ctx, `
		with taken as (select t::uuid as event_uid from unnest($2::text[]) t),
		parcel as (
			select p.parcel_id, p.status, (select count(*) from demo.told t where t.parcel_id = p.parcel_id) as told,
			       (select count(*) from core.event_log l join taken using (event_uid)
			         where l.namespace = $1 and l.event_type = 'kv.' || $3 || '.update'
			           and (l.payload #>> '{new,parcel_id}')::integer = p.parcel_id) as posted
			  from demo.parcels p)
		select count(*) filter (where told > 0),
		       count(*) filter (where posted > 0),
		       (select count(*) from core.dead_letters l where l.namespace = $1 and l.source_kind = 'trigger' and l.resolution = 'replayed'
		           and l.payload #>> '{new,status}' = 'deliverd'),
		       count(*) filter (where status = ($4::text[])[parcel_id]),
		       count(*) filter (where told = 0) + count(*) filter (where posted = 0),
		       (select count(*) from demo.told) - count(*) filter (where told > 0)
		           + (select count(*) from taken) - count(*) filter (where posted > 0)
		  from parcel`, namespace, r.ids(), parcelRows, answers).
		Scan(&p.Told, &p.Posted, &p.Mended, &p.Answered, &p.Lost, &p.Doubled)
	if err != nil {
		return nil, fmt.Errorf("count parcels: %w", err)
	}
	return p, nil
}
