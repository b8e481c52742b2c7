-- Decisions of the egress gateway and refusals of the packet rules, for the history of sandboxes. Rows outlive their sandboxes, so they refer to none.

create table sandbox_egress (
  egress_id   bigint generated always as identity primary key,
  sandbox_id  text not null,
  team_id     uuid not null references team (id) on delete cascade,
  -- The last of the equal decisions that the row counts.
  decided_at  timestamptz(3) not null,
  verdict     text not null check (verdict in ('allow', 'deny')),
  rule        text not null,
  name        text,
  address     text not null,
  -- 'tcp', 'udp', 'icmp' or the number of another one.
  protocol    text not null default 'tcp',
  port        integer not null,
  connections integer not null check (connections > 0)
);

create index sandbox_egress_sandbox on sandbox_egress (sandbox_id, egress_id);
create index sandbox_egress_decided on sandbox_egress (decided_at);

-- The gateway finds the sandbox of a connection by its address.
create index sandbox_endpoint on sandbox (endpoint_host) where endpoint_host is not null;
