-- Secrets of teams (control-plane.md 16). A value is stored only encrypted, under a key of the operator that the database does not have.
create table secret (
  secret_id       text primary key,
  team_id         uuid not null references team (id) on delete cascade,
  name            text not null,
  metadata        jsonb not null default '{}' check (jsonb_typeof(metadata) = 'object'),
  current_version bigint not null check (current_version > 0),
  created_at      timestamptz(3) not null default clock_timestamp(),
  updated_at      timestamptz(3) not null default clock_timestamp(),
  unique (team_id, name)
);
create index secret_team_age on secret (team_id, created_at, secret_id);

create table secret_version (
  secret_id  text not null references secret (secret_id) on delete cascade,
  version    bigint not null,
  sealed     bytea not null,
  -- Of the key that encrypted it; does not reveal the key.
  key_id     text not null,
  created_at timestamptz(3) not null default clock_timestamp(),
  primary key (secret_id, version)
);
-- A rotation looks for the rows of other keys.
create index secret_version_key on secret_version (key_id);

-- Egress gateways keep values for some seconds.
create function notify_secret_changed() returns trigger language plpgsql as $$
begin
  perform pg_notify('secret_changed', coalesce(new.team_id, old.team_id)::text);
  return null;
end
$$;
create trigger secret_changed after insert or update or delete on secret for each row execute function notify_secret_changed();
