-- Volumes of teams. The id is also the name in the volume store of the runtime, so no two volumes ever share one. A deleted volume keeps its row
-- until its files are gone; its name is free at once.
create table volume (
  volume_id uuid primary key,
  team_id uuid not null references team (id),
  name text not null,
  created_by jsonb not null check (jsonb_typeof(created_by) = 'object'),
  created_at timestamptz(3) not null default clock_timestamp(),
  deleted_at timestamptz(3),
  -- As the engine has counted it, with what the content API has written since.
  size_bytes bigint not null default 0 check (size_bytes >= 0)
);
create unique index volume_name on volume (team_id, name) where deleted_at is null;
create index volume_list on volume (team_id, created_at, volume_id);
create index volume_deleted on volume (deleted_at) where deleted_at is not null;
