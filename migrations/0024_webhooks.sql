-- Webhooks: which events of a team's sandboxes are sent where, and what became of each.

create table webhook (
  webhook_id      uuid primary key default gen_random_uuid(),
  team_id         uuid not null references team (id) on delete cascade,
  name            text not null,
  url             text not null,
  events          text[] not null,
  enabled         boolean not null,
  -- Why the server has disabled it; null when somebody has.
  disabled_reason text,
  -- The secret that signs deliveries, encrypted with a key of the operator.
  key_id          text not null,
  sealed_secret   bytea not null,
  -- Deliveries that were given up since the last successful one.
  dead_in_row     integer not null default 0,
  created_at      timestamptz(3) not null default clock_timestamp(),
  constraint webhook_disabled check (not enabled or disabled_reason is null)
);
create index webhook_of_team on webhook (team_id, created_at, webhook_id);

-- One event for one webhook. It outlives the event, so it refers to none, and its body is written once.
create table webhook_delivery (
  delivery_id uuid primary key default gen_random_uuid(),
  webhook_id  uuid not null references webhook on delete cascade,
  event_id    bigint not null,
  event_type  text not null,
  body        text not null,
  -- pending: waits for its time or is being sent; delivered: a receiver answered 2xx; dead: given up.
  status      text not null default 'pending' check (status in ('pending', 'delivered', 'dead')),
  -- All attempts, and those since the creation or the last resend, by which the pauses grow.
  attempts    integer not null default 0,
  tries       integer not null default 0,
  due_at      timestamptz not null default clock_timestamp(),
  -- Until then one server is sending it.
  lease_until timestamptz,
  -- The time of the event.
  created_at  timestamptz(3) not null,
  unique (webhook_id, event_id)
);
create index webhook_delivery_due on webhook_delivery (webhook_id, due_at) where status = 'pending';
create index webhook_delivery_leased on webhook_delivery (webhook_id) where lease_until is not null;
create index webhook_delivery_page on webhook_delivery (webhook_id, created_at, delivery_id);
create index webhook_delivery_dead on webhook_delivery (webhook_id, created_at, delivery_id) where status = 'dead';
create index webhook_delivery_age on webhook_delivery (created_at) where status <> 'pending';

create table webhook_attempt (
  delivery_id uuid not null references webhook_delivery on delete cascade,
  number      integer not null,
  webhook_id  uuid not null references webhook on delete cascade,
  at          timestamptz(3) not null,
  ms          integer not null,
  http_status integer,
  -- Null for a successful one.
  error_class text,
  primary key (delivery_id, number)
);
create index webhook_attempt_series on webhook_attempt (webhook_id, at);

-- The place in the event log up to which deliveries have been written. The first reader inserts the row: a restore loads empty tables.
create table webhook_reader (
  only_row boolean primary key default true check (only_row),
  place    bigint not null
);
