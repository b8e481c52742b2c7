-- Logins of browsers, and the single-use codes of links.

create table dashboard_session (
  session_id   uuid primary key default gen_random_uuid(),
  -- SHA-256 of the 256 random bits in the cookie.
  token_hash   bytea not null unique,
  role         text not null check (role in ('developer', 'operator')),
  -- The team that it works with.
  team_id      uuid references team (id) on delete cascade,
  -- The key of the login: the session ends with it.
  api_key_id   uuid references api_key (id) on delete cascade,
  created_at   timestamptz(3) not null default clock_timestamp(),
  used_at      timestamptz(3) not null default clock_timestamp(),
  expires_at   timestamptz(3) not null,
  check (role = 'operator' or (team_id is not null and api_key_id is not null))
);
create index dashboard_session_expires on dashboard_session (expires_at);
create index dashboard_session_key on dashboard_session (api_key_id) where api_key_id is not null;
create index dashboard_session_team on dashboard_session (team_id);

create table dashboard_login_code (
  code_hash  bytea primary key,
  expires_at timestamptz(3) not null
);
