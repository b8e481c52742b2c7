-- Pause, resume, snapshots and what a sandbox keeps over them.

alter table sandbox
  -- What happens at the end time: pause instead of kill, and what that pause keeps.
  add column auto_pause          boolean not null default false,
  add column auto_pause_memory   boolean not null default true,
  -- Whether traffic wakes it, and how long it lives then.
  add column auto_resume         boolean not null default false,
  add column auto_resume_seconds integer not null default 300 check (auto_resume_seconds >= 0),
  -- The `network` of the create request: allowPublicTraffic, maskRequestHost, ...
  add column network             jsonb not null default '{}',
  -- The `mcp` of the create request; null without one.
  add column mcp                 jsonb,
  -- What the pause keeps; set while pausing and paused.
  add column pause_keep          text check (pause_keep in ('memory', 'files')),
  -- The handle of the runtime; set while paused and resuming.
  add column pause_handle        jsonb,
  -- When the pause was complete; null while it runs.
  add column paused_at           timestamptz(3),
  -- The daemon did not answer when its memory was frozen.
  add column unresponsive_at_pause boolean not null default false;

alter table sandbox drop constraint sandbox_state_check;
alter table sandbox add constraint sandbox_state_check
  check (state in ('starting', 'running', 'pausing', 'paused', 'resuming', 'snapshotting', 'killing'));
alter table sandbox add constraint sandbox_paused_check
  check (state not in ('paused', 'resuming') or (pause_handle is not null and pause_keep is not null and paused_at is not null));

drop index sandbox_in_transition;
create index sandbox_in_transition on sandbox (state_changed_at)
  where state in ('starting', 'pausing', 'resuming', 'snapshotting', 'killing');
create index sandbox_paused on sandbox (paused_at) where state = 'paused';

-- What a snapshot was taken from, and the snapshot as the runtime describes it; null for the results of builds.
alter table build
  add column source_sandbox_id text,
  add column snapshot          jsonb,
  -- What its files take on the engine beyond the image that it is based on; null when unknown.
  add column snapshot_bytes    bigint;
create index build_source_sandbox on build (source_sandbox_id, created_at desc) where source_sandbox_id is not null;

-- What happened in a sandbox, for `GET /sandboxes/{sandboxID}/logs`. It outlives the sandbox.
create table sandbox_log (
  log_id     bigint generated always as identity primary key,
  sandbox_id text not null,
  team_id    uuid not null,
  logged_at  timestamptz(3) not null,
  level      text not null check (level in ('debug', 'info', 'warn', 'error')),
  message    text not null,
  fields     jsonb not null default '{}'
);
create index sandbox_log_place on sandbox_log (sandbox_id, logged_at, log_id);
create index sandbox_log_age on sandbox_log (logged_at);

-- One sample of a running sandbox every few seconds.
create table sandbox_metric (
  sandbox_id   text not null,
  team_id      uuid not null,
  sampled_at   timestamptz(3) not null,
  cpu_count    integer not null,
  -- Percent of all its processors, 0 to 100.
  cpu_used_pct real not null,
  mem_used     bigint not null,
  mem_cache    bigint not null,
  mem_total    bigint not null,
  disk_used    bigint not null,
  disk_total   bigint not null,
  primary key (sandbox_id, sampled_at)
);
create index sandbox_metric_age on sandbox_metric (sampled_at);

create table team_metric (
  team_id    uuid not null references team (id) on delete cascade,
  sampled_at timestamptz(3) not null,
  -- Sandboxes that count against the limit of the team.
  concurrent integer not null,
  -- Sandboxes that started since the sample before.
  started    integer not null,
  primary key (team_id, sampled_at)
);
create index team_metric_age on team_metric (sampled_at);
