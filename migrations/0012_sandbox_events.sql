-- The history of a sandbox, for its readers.

alter table sandbox_history
  add column metadata  jsonb not null default '{}',
  -- How long it ran, all runs together.
  add column run_ms    bigint not null default 0,
  -- Who ended it; null where the event is not known.
  add column end_actor jsonb;

create index event_subject_place on event (subject, place);
-- The runs of a sandbox, by which its events are told apart.
create index event_run on event (subject, event_id) where kind in ('sandbox.running', 'sandbox.resumed');
create index event_team on event (team_id, event_id);
