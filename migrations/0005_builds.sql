-- How builds are made: what a build is to become, the work that is under way, its log, and what later builds may take over from it.

alter table build
  -- Which rules its steps follow (control-plane.md 10.5); null for images that were not built here.
  add column builder_version text check (builder_version in ('v1', 'v2.0.0', 'v2.1.0')),
  add column reason_message  text,
  -- `base`, the number of a step from 1, or `finalize`.
  add column reason_step     text,
  -- The variables of every process in its sandboxes.
  add column env             jsonb not null default '{}',
  add column start_cmd       text,
  add column ready_cmd       text,
  -- As whom, where and with what the start command runs: {user, workdir, env}. Null means the build's own defaults.
  add column start_context   jsonb,
  add column dockerfile      text,
  -- Started by what registered it: asking for its start again changes nothing.
  add column starts_itself   boolean not null default false,
  -- The newest line of its log; lines are counted from 1 without gaps.
  add column log_count       integer not null default 0,
  add constraint build_reason check (reason_message is null or status = 'failed');
create index build_unfinished on build (template_id) where status in ('pending', 'waiting', 'in_progress', 'building');
create index build_waiting on build (created_at) where status in ('pending', 'waiting');

-- A build whose start was asked for, from then until it is ready or has failed. Its secrets are gone with the row.
create table build_job (
  build_id           uuid primary key references build (build_id) on delete cascade,
  team_id            uuid not null references team (id) on delete cascade,
  plan               jsonb not null,
  -- Registry credentials, encrypted with a key of the installation.
  sealed_credentials bytea,
  queued_at          timestamptz(3) not null default clock_timestamp(),
  -- Counts the servers that took it up: whatever a former one still writes is refused.
  attempt            integer not null default 0,
  -- Counts those of them that went away in the middle.
  abandoned          integer not null default 0,
  server_id          integer,
  lease_until        timestamptz(3),
  -- The sandbox in which this attempt builds.
  sandbox_id         text check (sandbox_id ~ '^b[a-z0-9]+$'),
  -- Why it is to end; whoever works at it stops.
  cancel_reason      text,
  started_at         timestamptz(3),
  check ((server_id is null) = (lease_until is null))
);
create index build_job_queue on build_job (team_id, queued_at) where server_id is null;
create index build_job_sandbox on build_job (sandbox_id);

-- Append-only; `seq` is the place that clients ask by.
create table build_log (
  build_id uuid not null references build (build_id) on delete cascade,
  seq      integer not null check (seq >= 1),
  time     timestamptz(3) not null,
  level    text not null check (level in ('debug', 'info', 'warn', 'error')),
  step     text,
  message  text not null,
  primary key (build_id, seq)
);

-- The images of steps, by what made them. Used for as long as builds come by; a team never sees another's.
create table build_layer (
  team_id      uuid not null references team (id) on delete cascade,
  key          text not null check (key ~ '^[0-9a-f]{64}$'),
  image        text not null unique,
  -- What holds after the step: {user, workdir, env}, and of a whole build what its sandboxes need.
  result       jsonb not null,
  created_at   timestamptz(3) not null default clock_timestamp(),
  last_used_at timestamptz(3) not null default clock_timestamp(),
  primary key (team_id, key)
);
create index build_layer_age on build_layer (last_used_at);

-- Archives for COPY steps, by the key that the client made of them.
create table layer_upload (
  team_id      uuid not null references team (id) on delete cascade,
  hash         text not null check (hash ~ '^[0-9a-f]{64}$'),
  size_bytes   bigint not null check (size_bytes >= 0),
  created_at   timestamptz(3) not null default clock_timestamp(),
  last_used_at timestamptz(3) not null default clock_timestamp(),
  primary key (team_id, hash)
);
create index layer_upload_age on layer_upload (last_used_at);

-- One that the server itself brings along and keeps.
alter table template add column is_default boolean not null default false;
create index template_default on template (template_id) where is_default;
-- In the order of the list, which the index without it could only filter.
create index template_team_created on template (team_id, created_at desc, template_id desc) where deleted_at is null;
drop index template_team;
