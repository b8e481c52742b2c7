-- What a create asks for besides the network: volumes by name and path, and identity tokens by name and audience. Both hold over pauses.
alter table sandbox add column volume_mounts jsonb not null default '[]';
alter table sandbox add column iam jsonb not null default '{}';
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

-- Counts the running sandboxes of a team without their rows.
create index sandbox_team_running on sandbox (team_id) where state = 'running' and started_at is not null;

-- When a snapshot template got its newest ready build, so that a list of them is a range of an index. Kept by triggers, because tags and builds change
-- in several places. Null without one: then it is in no list.
alter table template add column snapshotted_at timestamptz(3);

create function refresh_snapshotted_at(changed text) returns void language sql as $$
  update template set snapshotted_at = (
    select max(assignment.created_at)::timestamptz(3) from tag_assignment as assignment join build using (build_id)
    where assignment.template_id = changed and build.status in ('uploaded', 'success', 'ready')
  ) where template_id = changed and source = 'snapshot_template'
$$;
create function tag_adds_snapshotted_at() returns trigger language plpgsql as $$
begin
  update template set snapshotted_at = greatest(snapshotted_at, new.created_at::timestamptz(3))
  where template_id = new.template_id and source = 'snapshot_template'
    and exists (select from build where build_id = new.build_id and status in ('uploaded', 'success', 'ready'));
  return null;
end $$;
create function tag_removes_snapshotted_at() returns trigger language plpgsql as $$
begin
  perform refresh_snapshotted_at(old.template_id);
  return null;
end $$;
create function build_changes_snapshotted_at() returns trigger language plpgsql as $$
begin
  perform refresh_snapshotted_at(new.template_id);
  return null;
end $$;
create trigger tag_adds_snapshotted_at after insert on tag_assignment for each row execute function tag_adds_snapshotted_at();
create trigger tag_removes_snapshotted_at after delete on tag_assignment for each row execute function tag_removes_snapshotted_at();
create trigger build_snapshotted_at after update of status on build for each row when (old.status is distinct from new.status)
  execute function build_changes_snapshotted_at();

update template set snapshotted_at = newest.at from (
  select assignment.template_id, max(assignment.created_at)::timestamptz(3) as at
  from tag_assignment as assignment join build using (build_id)
  where build.status in ('uploaded', 'success', 'ready') group by assignment.template_id
) as newest where newest.template_id = template.template_id and source = 'snapshot_template';
create index template_snapshots on template (team_id, snapshotted_at desc, template_id desc)
  where source = 'snapshot_template' and deleted_at is null;
