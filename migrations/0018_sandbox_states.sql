-- Counts and lists of the sandboxes of a team in given states, however many it has in other states.
create index sandbox_team_state on sandbox (team_id, state, started_at desc, sandbox_id);
