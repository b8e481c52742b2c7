-- What is left of the oldest runs of a sandbox whose events were removed: their number and length, and the last of these events.
alter table sandbox_history
  add column forgotten_runs    integer not null default 0,
  add column forgotten_through bigint not null default 0;
alter table sandbox
  add column forgotten_runs    integer not null default 0,
  add column forgotten_run_ms  bigint not null default 0,
  add column forgotten_through bigint not null default 0;
