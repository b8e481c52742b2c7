-- Live sandboxes, what was answered to creates that may be repeated, and the log of what happened.

-- A row is there from the reservation until the sandbox is gone. `incarnation` counts its starts: background work names it,
-- so that it never touches a later start of the same id.
create table sandbox (
  sandbox_id            text primary key check (sandbox_id ~ '^[a-z0-9]+$'),
  incarnation           integer not null check (incarnation >= 1),
  team_id               uuid not null references team (id),
  template_id           text not null references template (template_id),
  build_id              uuid not null references build (build_id),
  alias                 text,
  state                 text not null check (state in ('starting', 'running', 'pausing', 'paused', 'snapshotting', 'killing')),
  state_changed_at      timestamptz(3) not null default clock_timestamp(),
  endpoint_host         text,
  endpoint_daemon_port  integer,
  is_secure             boolean not null,
  metadata              jsonb not null default '{}',
  allow_internet_access boolean,
  created_at            timestamptz(3) not null default clock_timestamp(),
  started_at            timestamptz(3),
  expires_at            timestamptz(3),
  check (state = 'starting' or (started_at is not null and expires_at is not null) or state = 'killing'),
  check (state <> 'running' or (endpoint_host is not null and endpoint_daemon_port is not null))
);
create index sandbox_team_started on sandbox (team_id, started_at desc, sandbox_id);
create index sandbox_expiry on sandbox (expires_at) where state = 'running';
create index sandbox_in_transition on sandbox (state_changed_at) where state in ('starting', 'killing');
create index sandbox_template on sandbox (template_id);
create index sandbox_build on sandbox (build_id);

-- A create with an Idempotency-Key. The row is inserted with the sandbox's reservation and gets its answer in the
-- transaction that makes the sandbox run, so the two can never tell different stories.
create table idempotency_key (
  team_id      uuid not null references team (id) on delete cascade,
  key          text not null,
  request_hash text not null,
  sandbox_id   text not null,
  answer       jsonb,
  created_at   timestamptz not null default now(),
  primary key (team_id, key)
);
create index idempotency_key_sandbox on idempotency_key (sandbox_id);
create index idempotency_key_age on idempotency_key (created_at);

-- Append-only; each row is written by the transaction that it tells of.
create table event (
  event_id    bigint generated always as identity primary key,
  team_id     uuid not null,
  kind        text not null,
  subject     text not null,
  data        jsonb not null default '{}',
  created_at  timestamptz not null default clock_timestamp()
);
create index event_subject on event (subject, event_id);
