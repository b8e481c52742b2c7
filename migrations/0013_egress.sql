-- Network updates: the wanted policy is in the row, and the runtime is told after the commit.

alter table sandbox
  -- Counts the network updates.
  add column egress_version       integer not null default 0,
  -- The update whose policy the runtime has in force.
  add column egress_applied       integer not null default 0,
  -- Until then a server tells the runtime; one that died in it delays the next by this much.
  add column egress_claimed_until timestamptz(3);

create index sandbox_egress_pending on sandbox (sandbox_id) where egress_applied < egress_version;
