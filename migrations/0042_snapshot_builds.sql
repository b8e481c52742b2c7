-- The snapshots of a team, for their number.
create index build_snapshot on build (template_id) where snapshot is not null;
