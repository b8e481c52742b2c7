-- Actions on many sandboxes, which one server works off. A lease that has run out is taken over.

create table dashboard_job (
  job_id       uuid primary key,
  team_id      uuid not null references team (id) on delete cascade,
  action       text not null check (action in ('kill', 'pause', 'resume', 'extend')),
  seconds      integer,
  actor        jsonb not null,
  created_at   timestamptz(3) not null default clock_timestamp(),
  finished_at  timestamptz(3),
  leased_until timestamptz(3)
);
create index dashboard_job_team on dashboard_job (team_id, created_at);
create index dashboard_job_open on dashboard_job (created_at) where finished_at is null;

create table dashboard_job_item (
  job_id     uuid not null references dashboard_job (job_id) on delete cascade,
  sandbox_id text not null,
  status     text not null default 'waiting' check (status in ('waiting', 'done', 'failed', 'skipped')),
  message    text,
  primary key (job_id, sandbox_id)
);
