-- What the message and the fields of a line take as text. Null in a line of a release that does not know the column.
alter table sandbox_log add column bytes integer;
