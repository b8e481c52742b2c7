-- How much of what takes disk a team may have at once. Null: that of the settings.
alter table team
  add column max_paused_sandboxes integer,
  add column max_snapshots        integer,
  add column max_templates        integer,
  -- Teams are few, so the check of all rows holds no lock for long.
  add constraint team_counts check (least(max_paused_sandboxes, max_snapshots, max_templates) > 0);

-- Servers cache the limits with the credentials.
create trigger team_counts_changed after update of max_paused_sandboxes, max_snapshots, max_templates on team
  for each statement execute function notify_auth_changed();
