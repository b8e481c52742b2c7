-- What happened is kept for a while and then removed; nothing grows for ever.

-- Why a sandbox ends; set with the state `killing`.
alter table sandbox add column end_reason text;

-- One row for each sandbox that has ended. It names teams, templates and builds without references, because it outlives them.
create table sandbox_history (
  sandbox_id    text primary key,
  incarnation   integer not null,
  team_id       uuid not null,
  template_id   text not null,
  build_id      uuid not null,
  alias         text,
  reason        text not null,
  cpu_count     integer not null,
  memory_mib    integer not null,
  disk_mib      integer not null,
  created_at    timestamptz(3) not null,
  -- Null when it never ran.
  started_at    timestamptz(3),
  ended_at      timestamptz(3) not null,
  -- [{kind, at, reason?}], oldest first.
  state_changes jsonb not null
);
create index sandbox_history_team on sandbox_history (team_id, ended_at desc, sandbox_id);
create index sandbox_history_age on sandbox_history (ended_at);
create index sandbox_history_build on sandbox_history (build_id, ended_at);

-- Identity columns are given before the commit, so a reader that keeps the last one can miss events of slow transactions. `place` is
-- given after the commit, by one reader at a time: it only grows in the order in which events can be seen.
alter table event add column place bigint;
create sequence event_place;
create unique index event_by_place on event (place);
create index event_without_place on event (event_id) where place is null;
create index event_age on event (created_at);

-- Starts of templates that are not in `template.spawn_count` yet. Appending waits for nobody; a loop adds them up.
create table template_spawn (
  template_id text not null,
  spawned_at  timestamptz(3) not null default clock_timestamp()
);
create index template_spawn_template on template_spawn (template_id);

-- For the collectors.
create index build_image on build (image) where image is not null;
create index build_finished on build (finished_at, build_id) where finished_at is not null;
create index build_logged on build (finished_at, build_id) where log_count > 0;
create index template_deleted on template (deleted_at) where deleted_at is not null;
create index build_job_source on build_job ((plan -> 'source' ->> 'buildId'));
create index layer_upload_hash on layer_upload (hash);
