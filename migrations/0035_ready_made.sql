-- Builds of the ready-made templates (templates/README.md), append-only: of which version of the folder each is, and what it was made from.
create table ready_made_build (
  build_id   uuid primary key references build (build_id) on delete cascade,
  name       text not null check (name ~ '^[a-z0-9_-]+$'),
  version    integer not null check (version >= 1),
  -- SHA-256 of what the folder describes: its steps, the hashes of its files, its commands and sizes.
  digest     text not null check (digest ~ '^[0-9a-f]{64}$'),
  created_at timestamptz(3) not null default clock_timestamp()
);
create index ready_made_build_newest on ready_made_build (name, created_at desc);
