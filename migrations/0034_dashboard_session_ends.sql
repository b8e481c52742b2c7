-- An operator's login ends with the admin token that the servers had when it was made. Null: they had none.
alter table dashboard_session add column admin_mark bytea;

-- Live sockets on every server hear at once of a login that has ended, also by the deletion of its key or by hand, or that works for another team.
create function notify_dashboard_session_changed() returns trigger language plpgsql as $$
begin
  perform pg_notify('dashboard_changed', '- session ' || old.session_id);
  return null;
end $$;
create trigger dashboard_session_changed after delete or update of team_id on dashboard_session
  for each row execute function notify_dashboard_session_changed();
