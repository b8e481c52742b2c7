-- Keys may end by themselves, and may be limited: to connecting to sandboxes, to reading, to building templates. Null: neither.
alter table api_key
  add column expires_at timestamptz,
  add column scope      text check (scope in ('connect', 'read', 'build'));
alter table access_token
  add column expires_at timestamptz;

-- Servers cache both with the credential.
create trigger api_key_limits_changed after update of expires_at, scope on api_key
  for each statement execute function notify_auth_changed();
create trigger access_token_limits_changed after update of expires_at on access_token
  for each statement execute function notify_auth_changed();

-- The order of lists; it also finds the keys of a team.
create index api_key_of_team on api_key (team_id, created_at, id);
drop index api_key_team;

-- Who a user is at an OpenID provider.
create table user_identity (
  issuer     text not null,
  subject    text not null,
  user_id    uuid not null references app_user (id) on delete cascade,
  created_at timestamptz not null default now(),
  primary key (issuer, subject)
);
-- A user has one identity at a provider: a second one with the same address may be another person.
create unique index user_identity_of_user on user_identity (user_id, issuer);
create trigger user_identity_auth_changed after delete or update on user_identity
  for each statement execute function notify_auth_changed();
