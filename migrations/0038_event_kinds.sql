-- The events of a team by their kinds: for its newest lifecycle events, and for the cap of those that a client can cause as fast as it asks.
create index event_team_kind on event (team_id, kind, event_id);
