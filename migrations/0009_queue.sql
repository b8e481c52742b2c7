-- The next job of a team, the teams that wait, the jobs that a team has in work, and the leases that are over: each by its index.
drop index build_job_queue;
create index build_job_waiting on build_job (team_id, queued_at, build_id) where server_id is null;
create index build_job_busy on build_job (team_id) where server_id is not null;
create index build_job_lease on build_job (lease_until) where server_id is not null;
