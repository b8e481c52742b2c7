-- What bounds the stored logs: of a sandbox by what was stored, whatever its daemon says, and of the builds of a team by their bytes.

-- Lines that were stored since older ones were last removed.
alter table sandbox_log_cursor add column untrimmed integer not null default 0;

-- In UTF-8. Releases that do not know the column leave it behind `log_count`.
alter table build add column log_bytes bigint not null default 0;
