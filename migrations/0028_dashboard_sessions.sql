-- Logins of browsers, and the single-use codes of links.

create table dashboard_session (
  session_id   uuid primary key default gen_random_uuid(),
  -- SHA-256 of the 256 random bits in the cookie.
  token_hash   bytea not null unique,
  role         text not null check (role in ('developer', 'operator')),
  -- The team that an operator has chosen. It refers to no row, because the deletion of the team must not end the login; the team of a developer is that of the key.
  team_id      uuid,
  -- The key of a developer's login: the session ends with it.
  api_key_id   uuid references api_key (id) on delete cascade,
  created_at   timestamptz(3) not null default clock_timestamp(),
  used_at      timestamptz(3) not null default clock_timestamp(),
  expires_at   timestamptz(3) not null,
  check ((role = 'developer') = (api_key_id is not null))
);
create index dashboard_session_expires on dashboard_session (expires_at);
create index dashboard_session_key on dashboard_session (api_key_id) where api_key_id is not null;

create table dashboard_login_code (
  -- SHA-256 of the code in the link.
  code_hash  bytea primary key,
  expires_at timestamptz(3) not null
);
