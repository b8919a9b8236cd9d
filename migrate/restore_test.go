package migrate

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/internal/pgdev"
)

// A dump is restored in the ways that people do: by another superuser without owners, without rights, into a server that has not even the
// roles, the schema first and the data later. Status says what is wrong and names the owner; Up makes it what it was.
// holds: I1-restored, others-restore
func TestRestoredCopiesAreMended(t *testing.T) {
	source := installed(t)
	execute(t, source, `select core.create_namespace('shop'); select core.emit('shop', 'a'); select core.schedule_task('shop', 'tick', '@every 1h', 'tick')`)
	want := value[string](t, connect(t, source), whole)
	dump := func(args ...string) string {
		return client(t, "pg_dump", "", append([]string{"--format=custom", "--extension=pgmq", "--extension=pg_partman", "--extension=plpgsql", source}, args...)...)
	}
	other := newCluster(t)
	for _, target := range []*pgdev.Cluster{cluster, other} {
		execute(t, target.URL("postgres"), `do $$ begin if to_regrole('restorer') is null then create role restorer superuser login password 'secret'; end if; end $$`)
	}
	restore := func(t *testing.T, c *pgdev.Cluster, data string, args ...string) string {
		t.Helper()
		address := as(t, c.URL(newDatabase(t, c)), "restorer", "secret")
		args = append([]string{"--dbname", address}, args...)
		if slices.Contains(args, "--no-owner") && !slices.Contains(args, "--no-acl") {
			// Rights that one role passed on to another cannot be given by whom the object does not belong to.
			_, errs, _ := tryClient(t, "pg_restore", data, args...)
			for _, line := range strings.Split(errs, "\n") {
				if strings.Contains(line, "ERROR:") && !strings.Contains(line, "permission denied") {
					t.Error(line)
				}
			}
			return address
		}
		client(t, "pg_restore", data, append(args, "--exit-on-error")...)
		return address
	}
	full := dump()
	for i, c := range []struct {
		name string
		on   *pgdev.Cluster
		args []string
		says string
	}{
		{"without owners", cluster, []string{"--no-owner"}, "schema core belongs to restorer in place of nexus_owner"},
		{"without rights", cluster, []string{"--no-acl"}, "rights on schema core: none, before"},
		{"without either", cluster, []string{"--no-owner", "--no-acl"}, "routine core.emit(text, text, jsonb, jsonb) belongs to restorer"},
		{"without roles", other, []string{"--no-owner", "--no-acl"}, "schema core belongs to restorer in place of nexus_owner"},
	} {
		if leftOut(i) {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			address := restore(t, c.on, full, c.args...)
			pool := connect(t, address)
			before, err := Status(t.Context(), pool)
			if err != nil || !slices.ContainsFunc(before.Unsafe, func(l string) bool { return strings.HasPrefix(l, c.says) }) {
				t.Errorf("status does not say %q: %q, %v", c.says, before.Unsafe, err)
			}
			if strings.Contains(c.says, "belongs") {
				plain := fmt.Sprintf("plain_%s", strings.ReplaceAll(c.name, " ", "_"))
				execute(t, address, `create role `+plain+` login createrole password 'secret'`)
				_, err := up(t.Context(), connect(t, as(t, address, plain, "secret")), nil, embedded())
				if refused := wantCode(t, err, nexus.CodeInstallerRights); !strings.Contains(refused.Message, "belongs to restorer") || !strings.Contains(refused.Hint, "alter schema core owner to nexus_owner;") {
					t.Errorf("one who may not mend it hears %q, %q", refused.Message, refused.Hint)
				}
			}
			mustUp(t, pool, nil, embedded())
			if after := value[string](t, pool, whole); after != want {
				t.Errorf("it is not what it was:\n%s", differences(want, after))
			}
			if again := mustUp(t, pool, nil, embedded()); len(again.Applied)+len(again.Unsafe)+len(again.Drift) > 0 {
				t.Errorf("there is still to do: %+v", again)
			}
			execute(t, address, `set role nexus_producer; select core.emit('shop', 'b')`)
			if n := value[int](t, pool, `select count(*) from pgmq.q_core_events_shop`); n != 2 {
				t.Errorf("%d messages, want 2", n)
			}
		})
	}
	t.Run("in two parts", func(t *testing.T) {
		address := restore(t, cluster, dump("--schema-only"))
		pool := connect(t, address)
		_, err := up(t.Context(), pool, nil, embedded())
		if refused := wantCode(t, err, nexus.CodeNotTrusted); !strings.Contains(refused.Hint, "--data-only") {
			t.Errorf("the hint is %q", refused.Hint)
		}
		client(t, "pg_restore", dump("--data-only"), "--disable-triggers", "--exit-on-error", "--dbname", address)
		mustUp(t, pool, nil, embedded())
		if after := value[string](t, pool, whole); after != want {
			t.Errorf("it is not what it was:\n%s", differences(want, after))
		}
		execute(t, address, `select core.emit('shop', 'b')`)
	})
}
