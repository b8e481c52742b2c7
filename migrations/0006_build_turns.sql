-- When a server last took up a build of a team: teams take turns.
create table build_turn (
  team_id  uuid primary key references team (id) on delete cascade,
  taken_at timestamptz not null
);
