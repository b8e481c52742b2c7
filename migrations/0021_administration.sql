-- Two more limits of a team. Null: that of the settings.
alter table team add column max_disk_mib integer check (max_disk_mib > 0);
alter table team add column max_stored_bytes bigint check (max_stored_bytes > 0);
create trigger team_storage_limits_changed after update of max_disk_mib, max_stored_bytes on team
  for each statement execute function notify_auth_changed();

-- The lists of administrators have pages. Teams, users and members are few.
create index team_created on team (created_at desc, id desc);
create index app_user_created on app_user (created_at desc, id desc);
create index team_member_created on team_member (team_id, created_at desc, user_id desc);

-- A node of the interface is a server. What an administrator wants of it outlives its heartbeats, which write the rest.
alter table server add column service_instance uuid;
alter table server add column wanted_status text not null default 'ready' check (wanted_status in ('ready', 'draining', 'standby'));
alter table server add column status_changed_at timestamptz(3);
-- The last figures of the server and its host; their shape is ServerVitals (packages/db/src/schema/server.ts).
alter table server add column vitals jsonb not null default '{}';
