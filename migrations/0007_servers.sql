-- Every server of this installation that serves or served lately. A server renews its lease by a heartbeat; the database's clock
-- judges it. What a server has begun and not finished when its lease is over is given up or taken over by the others.
create table server (
  server_id    integer primary key,
  engine_id    text not null,
  version      text not null,
  -- What its host has: {cpuCount, memoryMib, builds}.
  capacity     jsonb not null default '{}',
  is_draining  boolean not null default false,
  started_at   timestamptz(3) not null default clock_timestamp(),
  heartbeat_at timestamptz(3) not null default clock_timestamp(),
  lease_until  timestamptz(3) not null
);
create index server_lease on server (lease_until);
