-- Who may call: teams, users, and the hashed credentials that name them.

create table server_setting (
  name       text primary key,
  value      text not null,
  created_at timestamptz not null default now()
);

create table team (
  id             uuid primary key default gen_random_uuid(),
  name           text not null,
  slug           text not null unique check (slug ~ '^[a-z0-9-]+$'),
  email          text not null,
  is_banned      boolean not null default false,
  is_blocked     boolean not null default false,
  blocked_reason text,
  created_at     timestamptz not null default now()
);

create table app_user (
  id         uuid primary key default gen_random_uuid(),
  email      text not null unique,
  created_at timestamptz not null default now()
);

create table team_member (
  team_id    uuid not null references team (id) on delete cascade,
  user_id    uuid not null references app_user (id) on delete cascade,
  is_default boolean not null default false,
  created_at timestamptz not null default now(),
  primary key (team_id, user_id)
);
create index team_member_user on team_member (user_id);
create unique index team_member_one_default on team_member (user_id) where is_default;

-- The raw value of a credential is shown once and never stored; the mask parts are what lists show of it.
create table api_key (
  id                  uuid primary key default gen_random_uuid(),
  team_id             uuid not null references team (id) on delete cascade,
  name                text not null,
  hash                text not null unique,
  prefix              text not null,
  value_length        integer not null,
  masked_value_prefix text not null,
  masked_value_suffix text not null,
  created_by          uuid references app_user (id) on delete set null,
  created_at          timestamptz not null default now(),
  last_used_at        timestamptz
);
create index api_key_team on api_key (team_id);

create table access_token (
  id                  uuid primary key default gen_random_uuid(),
  user_id             uuid not null references app_user (id) on delete cascade,
  name                text not null,
  hash                text not null unique,
  prefix              text not null,
  value_length        integer not null,
  masked_value_prefix text not null,
  masked_value_suffix text not null,
  created_at          timestamptz not null default now()
);
create index access_token_user on access_token (user_id);

-- Servers cache who a credential is. Whatever takes a right away empties those caches, also when it is done by hand.
create function notify_auth_changed() returns trigger language plpgsql as $$
begin
  perform pg_notify('auth_changed', '');
  return null;
end $$;

create trigger team_auth_changed after delete or update of name, slug, email, is_banned, is_blocked, blocked_reason on team
  for each statement execute function notify_auth_changed();
create trigger team_member_auth_changed after insert or delete or update on team_member
  for each statement execute function notify_auth_changed();
create trigger api_key_auth_changed after delete or update of team_id, hash on api_key
  for each statement execute function notify_auth_changed();
create trigger access_token_auth_changed after delete or update of user_id, hash on access_token
  for each statement execute function notify_auth_changed();
