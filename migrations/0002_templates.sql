-- What sandboxes are made from. A template is a name over builds; a tag points at one build at a time.

create table template (
  template_id     text primary key check (template_id ~ '^[a-z0-9]+$'),
  team_id         uuid not null references team (id) on delete cascade,
  source          text not null check (source in ('template', 'snapshot', 'snapshot_template')),
  is_public       boolean not null default false,
  created_by      uuid references app_user (id) on delete set null,
  spawn_count     bigint not null default 0,
  build_count     integer not null default 0,
  last_spawned_at timestamptz(3),
  created_at      timestamptz(3) not null default now(),
  updated_at      timestamptz(3) not null default now(),
  deleted_at      timestamptz(3)
);
create index template_team on template (team_id) where deleted_at is null;

-- A null namespace holds the promoted names, which every team may use bare.
create table template_alias (
  alias        text not null check (alias ~ '^[a-z0-9_-]+$'),
  namespace    text check (namespace ~ '^[a-z0-9_-]+$'),
  template_id  text not null references template (template_id) on delete cascade,
  is_renamable boolean not null default false,
  created_at   timestamptz(3) not null default clock_timestamp(),
  unique nulls not distinct (alias, namespace)
);
create index template_alias_template on template_alias (template_id);

create table build (
  build_id        uuid primary key default gen_random_uuid(),
  template_id     text not null references template (template_id) on delete cascade,
  status          text not null check (status in
                    ('pending', 'waiting', 'in_progress', 'building', 'snapshotting', 'uploaded', 'success', 'ready', 'failed')),
  cpu_count       integer not null check (cpu_count >= 1),
  memory_mib      integer not null check (memory_mib >= 128),
  disk_mib        integer not null check (disk_mib >= 0),
  image           text,
  default_user    text not null,
  default_workdir text not null,
  envd_version    text,
  created_at      timestamptz(3) not null default now(),
  updated_at      timestamptz(3) not null default now(),
  finished_at     timestamptz(3),
  check (image is not null or status not in ('uploaded', 'success', 'ready'))
);
create index build_template on build (template_id, created_at desc);

-- Append-only: the newest assignment of a tag whose build is ready wins (control-plane.md 2.7).
create table tag_assignment (
  assignment_id uuid primary key default gen_random_uuid(),
  template_id   text not null references template (template_id) on delete cascade,
  build_id      uuid not null references build (build_id) on delete cascade,
  tag           text not null check (tag ~ '^[a-z0-9_.-]+$'),
  created_at    timestamptz not null default clock_timestamp()
);
create index tag_assignment_newest on tag_assignment (template_id, tag, created_at desc);
create index tag_assignment_build on tag_assignment (build_id);
