-- The claim of a sandbox of the warm pool that a create has made. A crash of Postgres may lose a claim that was committed asynchronously, and
-- another create may claim the same sandbox then: a create changes the row of its own claim only. Null for sandboxes that were created.
alter table sandbox add column claim text;
