-- What the content API has ever written to a volume. A measurement adds what was written since it began, so that nothing is left out.
alter table volume add column written_bytes bigint not null default 0 check (written_bytes >= 0);
-- The last attempt to measure this volume alone. Null: it comes first.
alter table volume add column measured_at timestamptz(3);
create index volume_measured on volume (measured_at nulls first, volume_id) where deleted_at is null;

-- Bytes that uploads in flight may write. They count against the limit of the team until the upload ends or, when its server has died, until they expire.
create table volume_upload (
  upload_id uuid primary key,
  volume_id uuid not null references volume on delete cascade,
  team_id uuid not null references team (id) on delete cascade,
  bytes bigint not null check (bytes >= 0),
  expires_at timestamptz(3) not null
);
create index volume_upload_of_team on volume_upload (team_id);
create index volume_upload_of_volume on volume_upload (volume_id);
create index volume_upload_expiry on volume_upload (expires_at);

-- Ids of volumes whose files were removed. An engine that did not answer may make such a volume later; nothing else tells it from the data of users.
create table deleted_volume (
  volume_id uuid primary key,
  removed_at timestamptz(3) not null default clock_timestamp()
);
create index deleted_volume_age on deleted_volume (removed_at);
