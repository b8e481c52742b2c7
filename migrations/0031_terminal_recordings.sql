-- Recordings of the dashboard's terminals, as asciicast. Rows outlive their sandboxes, so they refer to none.

create table terminal_recording (
  recording_id uuid primary key default gen_random_uuid(),
  team_id      uuid not null references team (id) on delete cascade,
  sandbox_id   text not null,
  terminal_id  uuid not null,
  title        text not null,
  cols         integer not null,
  rows         integer not null,
  started_at   timestamptz(3) not null default clock_timestamp(),
  ended_at     timestamptz(3),
  bytes        bigint not null default 0,
  is_truncated boolean not null default false
);
create index terminal_recording_sandbox on terminal_recording (sandbox_id, started_at);
create index terminal_recording_team on terminal_recording (team_id, started_at);
create index terminal_recording_age on terminal_recording (started_at);

-- Written as the terminal prints, so that a killed server loses seconds only.
create table terminal_recording_part (
  recording_id uuid not null references terminal_recording (recording_id) on delete cascade,
  number       integer not null,
  content      bytea not null,
  primary key (recording_id, number)
);
