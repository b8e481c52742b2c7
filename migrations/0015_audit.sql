-- Which request made a change, and who asked for changes.

alter table event add column request_id text;

-- Records outlive teams, users and credentials, so they refer to none.
create table audit (
  audit_id       bigint generated always as identity primary key,
  created_at     timestamptz(3) not null,
  team_id        uuid,
  -- 'link': the signature in the address of an upload.
  actor          text not null check (actor in ('key', 'user', 'admin', 'link')),
  -- Of the API key or the access token.
  credential_id  uuid,
  user_id        uuid,
  client_address text not null,
  request_id     text not null,
  operation      text not null,
  targets        jsonb not null,
  status         integer not null
);

create index audit_created on audit (created_at);
create index audit_team on audit (team_id, audit_id);
create index audit_request on audit (request_id);
