-- When the server of a recording wrote it last: a recording whose server was killed has ended then.

alter table terminal_recording add column seen_at timestamptz(3);

create index terminal_recording_open on terminal_recording (seen_at) where ended_at is null;
