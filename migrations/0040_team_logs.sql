-- The log lines of all sandboxes of a team, for what they take together.
create index sandbox_log_team on sandbox_log (team_id, log_id) include (bytes);
