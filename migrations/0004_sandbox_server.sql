-- Which server is at a start. Servers hold a lock under their id for as long as they live (packages/db/src/presence.ts), so a
-- reservation whose server is gone need not be waited for.
alter table sandbox add column server_id integer;
