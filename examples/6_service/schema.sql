create table orders (
    order_id bigint generated always as identity primary key,
    customer text not null,
    items    int not null check (items > 0),
    reported boolean not null default false
);

create table customers (
    customer text primary key,
    orders   int not null
);

create table mails (
    event_uid uuid primary key,
    recipient text not null,
    body      text not null,
    asked_at  timestamptz not null,
    sent_at   timestamptz not null default clock_timestamp()
);
