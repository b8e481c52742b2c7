-- The warm pool: sandboxes that have started and wait for a create. They are nobody's, so they have rows of their own.

create table parked_sandbox (
  sandbox_id           text primary key,
  incarnation          integer not null check (incarnation >= 1),
  template_id          text not null,
  build_id             uuid not null,
  -- What else a sandbox depends on: the daemon and the settings that it was started with.
  generation           text not null,
  -- parking: it is being started; parked: a create may claim it; removing: its resources are being freed.
  state                text not null check (state in ('parking', 'parked', 'removing')),
  state_changed_at     timestamptz(3) not null default clock_timestamp(),
  -- The server that started it.
  server_id            integer not null,
  endpoint_host        text,
  endpoint_daemon_port integer,
  -- What it counts for in the memory of the pool.
  memory_mib           integer not null,
  expires_at           timestamptz(3) not null,
  constraint parked_sandbox_endpoint check (state <> 'parked' or (endpoint_host is not null and endpoint_daemon_port is not null))
);
create index parked_sandbox_claim on parked_sandbox (build_id, generation, state_changed_at) where state = 'parked';

-- Creates of the last minutes, counted in slots of ten seconds.
create table pool_demand (
  template_id text not null,
  -- As the create named it: a tag, or the id of a build.
  tag         text not null,
  slot        timestamptz(0) not null,
  creates     integer not null check (creates > 0),
  primary key (template_id, tag, slot)
);
create index pool_demand_slot on pool_demand (slot);
