-- Teams with so many deliveries to write that the reader of the event log goes on without them: their events after the place, up to that of the reader,
-- are written in turns of their own. No foreign key: the check of one would let the reader wait for whoever has locked the row of the team.
create table webhook_late_team (
  team_id uuid primary key,
  place   bigint not null
);
