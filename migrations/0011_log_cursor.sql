-- The entries that a sandbox's daemon has given to the log of the sandbox.
create table sandbox_log_cursor (
  sandbox_id text primary key references sandbox (sandbox_id) on delete cascade,
  -- The run of the daemon that numbered the entries.
  boot       text not null,
  -- The number of the last stored entry.
  place      bigint not null
);
