#!/bin/sh
# Runs once, when the data directory is new. Only a superuser may create these extensions; everything after them is
# `nexus-node migrate`, by a role that is none.
set -eu

psql -v ON_ERROR_STOP=1 --username "$POSTGRES_USER" --dbname "$POSTGRES_DB" <<'SQL'
create extension if not exists pgmq;
create extension if not exists pg_cron;
create schema if not exists partman;
create extension if not exists pg_partman schema partman;
SQL
