# PostgreSQL with the three extensions that Nexus stands on: pgmq, pg_cron and pg_partman.
#
#   docker build -f docker/postgres.Dockerfile -t nexus-postgres docker
#
# pg_cron and pg_partman are packages of the PostgreSQL project, whose repository the base image already has. pgmq has no package:
# it is SQL and a control file, taken from the crate that carries them. Nothing of it is compiled.

ARG PG_MAJOR=17

FROM rust:1-slim-bookworm AS pgmq
ARG PGMQ_VERSION=1.13.0
# The crate that carries each version of the extension.
RUN set -eu; \
    case "$PGMQ_VERSION" in \
      1.11.1) crate=0.33.7 ;; \
      1.13.0) crate=0.34.0-alpha.7 ;; \
      *) echo "PGMQ_VERSION must be 1.11.1 or 1.13.0, not $PGMQ_VERSION" >&2; exit 1 ;; \
    esac; \
    cd /; cargo info --quiet "pgmq@$crate" >/dev/null; \
    mkdir /pgmq; \
    cd "$CARGO_HOME"/registry/src/*/"pgmq-$crate"/src/install/embedded; \
    grep -q "^default_version = '$PGMQ_VERSION'" pgmq.control; \
    cp pgmq.control sql/pgmq--*--*.sql /pgmq/; \
    cp sql/pgmq.sql "/pgmq/pgmq--$PGMQ_VERSION.sql"

FROM postgres:${PG_MAJOR}-bookworm
ARG PG_MAJOR
RUN set -eu; \
    apt-get update; \
    apt-get install -y --no-install-recommends \
      "postgresql-$PG_MAJOR-cron" \
      "postgresql-$PG_MAJOR-partman"; \
    rm -rf /var/lib/apt/lists/*
COPY --from=pgmq /pgmq/ /usr/share/postgresql/${PG_MAJOR}/extension/
COPY initdb.d/ /docker-entrypoint-initdb.d/

ENV POSTGRES_DB=nexus
# pg_cron must be preloaded and lives in one database, the one above. As background workers its jobs need no password file.
CMD ["postgres", \
     "-c", "shared_preload_libraries=pg_cron", \
     "-c", "cron.database_name=nexus", \
     "-c", "cron.use_background_workers=on", \
     "-c", "max_worker_processes=20"]
