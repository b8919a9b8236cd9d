// Package config reads the settings of nexus-node from the environment. It is the only package of the module that looks
// there; everything else is given values.
//
// A setting is a field of [Config]: its variable is NEXUS_ and the field's words, its unit is in its type, and its tags
// hold the default, what it is for and which values it takes. From those tags come the values, the sentences about wrong
// ones and the list that `nexus-node config` prints, so that the three cannot disagree.
//
// Six variables of the earlier nexus-core (CORE_…) are read as aliases. NEXUS_ wins; if both are set to different values,
// a warning says so.
package config

import "time"

// Config is what nexus-node runs with. Tags: default (as it would be written in the environment), about, accepts (the end
// of the sentence "it takes …"), secret (the value is never shown whole).
type Config struct {
	DatabaseURL string `split_words:"true" secret:"true" accepts:"postgres://user@host:5432/database, in whose password @ is written %40, or keyword=value words" about:"the database; what it leaves out comes from libpq's PG… variables"`
	WakeURL     string `split_words:"true" secret:"true" accepts:"postgres://user@host:5432/database, in whose password @ is written %40, or keyword=value words" about:"a direct connection for LISTEN when the database is reached through a pooler"`
	// Not SQLURL, whose words envconfig would not part.
	SQLHandlersURL string `split_words:"true" secret:"true" accepts:"postgres://user@host:5432/database, in whose password @ is written %40, or keyword=value words" about:"the database as the login nexus_sql, by which run also runs the handlers of the namespace that are written in SQL; empty: others do, or pg_cron"`

	Namespace string `split_words:"true" accepts:"a namespace's name" about:"the namespace of run, emit and the commands that look into one"`
	NodeID    string `split_words:"true" accepts:"a name for the node" about:"the node's id; empty: the host's name, numbered if a live node has it"`

	Workers          int           `split_words:"true" default:"0" accepts:"a whole number from 0 to 10000" about:"handlers at once; 0: one fewer than the pool has connections"`
	IdlePollInterval time.Duration `split_words:"true" default:"1s" accepts:"a duration from 10ms to 1h, such as 500ms" about:"longest pause between two looks at an empty queue; wake-ups come sooner"`
	Lease            time.Duration `split_words:"true" default:"30s" accepts:"a duration from 1s to 12h, such as 30s" about:"how long a claimed event is hidden from others; renewed while its handler runs"`
	HandlerTimeout   time.Duration `split_words:"true" default:"30m" accepts:"a duration from 1ms to 720h, such as 5m, or -1s for none" about:"how long a handler may run"`
	Grace            time.Duration `split_words:"true" default:"30s" accepts:"a duration from 0s to 1h, such as 20s" about:"what handlers get to finish in when the node is told to stop"`

	Webhooks     string `split_words:"true" default:"on" accepts:"on or off" about:"whether run sends the namespace's webhooks; off leaves them to other nodes"`
	WebhookAllow string `split_words:"true" accepts:"networks with commas between, such as 10.1.0.0/16,fd00::/8" about:"private networks that webhooks may reach; empty: none, only the internet"`

	MaxTriggerDepth                  int    `split_words:"true" default:"0" accepts:"a whole number from 1 to 1000, or 0" about:"migrate up stores it: how deep in its chain an event may lie for triggers to fire; 0: as it is stored, 8 at first"`
	TriggerRetryMaxAttempts          int    `split_words:"true" default:"0" accepts:"a whole number from 1 to 1000000, -1 for no end, or 0" about:"migrate up stores it: attempts of deliveries of triggers that are created with none; 0: as it is stored, 3 at first"`
	TriggerRetryBackoff              string `split_words:"true" accepts:"exponential, linear or constant" about:"migrate up stores it: how pauses of such triggers grow; empty: as it is stored, exponential at first"`
	TriggerRetryBaseMs               int    `split_words:"true" default:"0" accepts:"a whole number of milliseconds from 1 to 86400000, or 0" about:"migrate up stores it: their first pause; 0: as it is stored, 1000 at first"`
	DeadLetterRetentionDays          int    `split_words:"true" default:"0" accepts:"a whole number of days from 1 to 36500, or 0" about:"migrate up stores it: how long resolved dead letters are kept; 0: as it is stored, 30 at first"`
	AbandonedExecutionsRetentionDays int    `split_words:"true" default:"0" accepts:"a whole number of days from 1 to 36500, or 0" about:"migrate up stores it: how long executions of requests that nobody waited for are kept; 0: as it is stored, 7 at first"`

	PoolMaxConns   int           `split_words:"true" default:"0" accepts:"a whole number from 0 to 1000" about:"connections of the pool; 0: pool_max_conns of the URL, else 4 or the number of cores"`
	ConnectTimeout time.Duration `split_words:"true" default:"5s" accepts:"a duration from 100ms to 5m, such as 5s" about:"how long one attempt to connect may take"`
	Ingress        string        `split_words:"true" default:"off" accepts:"off, or on where NEXUS_HTTP_ADDRESS is set" about:"whether run takes CloudEvents by POST /events at NEXUS_HTTP_ADDRESS, by tokens of core.create_ingress_token"`
	HTTPAddress    string        `split_words:"true" accepts:"host:port, such as 127.0.0.1:9464, or :9464 for all interfaces" about:"where run answers /metrics, /healthz and /readyz; empty: nowhere"`
	TriggerAddress string        `split_words:"true" accepts:"host:port, such as 127.0.0.1:8080, or :8080 for all interfaces, and not that of NEXUS_HTTP_ADDRESS" about:"where run serves the namespace's triggers of kind http; empty: nowhere"`
	LogLevel       string        `split_words:"true" default:"info" accepts:"debug, info, warn or error" about:"what is logged; debug adds every SQL statement"`

	sources map[string]string // by variable: where the value came from, if not from the default
}

// The variables' names, for those who tell users about them.
const (
	EnvDatabaseURL = "NEXUS_DATABASE_URL"
	EnvNamespace   = "NEXUS_NAMESPACE"
)
