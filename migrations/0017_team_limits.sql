-- The limits of one team. Null: that of the settings.

alter table team
  add column max_sandboxes        integer,
  add column max_lifetime_seconds integer,
  add column max_builds           integer,
  add column max_cpu_count        integer,
  add column max_memory_mib       integer,
  add column creates_per_minute   integer,
  add column create_burst         integer,
  -- How much of its burst the team had used at that time; it is given back since then.
  add column creates_used         double precision,
  add column creates_counted_at   timestamptz,
  -- Teams are few, so the check of all rows holds no lock for long.
  add constraint team_limits check (
    least(max_sandboxes, max_lifetime_seconds, max_builds, max_cpu_count, max_memory_mib, creates_per_minute, create_burst) > 0
    and max_lifetime_seconds <= 86400
    and greatest(creates_per_minute, create_burst) <= 1000000
  );

-- Servers cache the limits with the credentials.
create trigger team_limits_changed
  after update of max_sandboxes, max_lifetime_seconds, max_builds, max_cpu_count, max_memory_mib, creates_per_minute, create_burst on team
  for each statement execute function notify_auth_changed();
