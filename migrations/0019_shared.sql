-- What a create asks for besides the network: volumes by name and path, and identity tokens by name and audience. Both hold over pauses.
alter table sandbox add column volume_mounts jsonb not null default '[]' check (jsonb_typeof(volume_mounts) = 'array');
alter table sandbox add column iam jsonb not null default '{}' check (jsonb_typeof(iam) = 'object');
-- The server of the last start or resume. Unlike server_id it stays while the sandbox runs, and names no owner of a transition.
alter table sandbox add column home_server_id integer;

-- Answers of creates that are one transaction, under their idempotency keys. An answer may hold a credential, so it is sealed with a key that
-- only the idempotency key gives, which itself is not stored.
create table remembered_answer (
  owner_id uuid not null,
  operation text not null,
  key_digest text not null,
  request_hash text not null,
  sealed_answer bytea,
  created_at timestamptz not null default clock_timestamp(),
  primary key (owner_id, operation, key_digest)
);
create index remembered_answer_age on remembered_answer (created_at);
