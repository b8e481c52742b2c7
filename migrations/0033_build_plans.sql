-- What a build was made of, so that it can be built again. Without credentials: those end with the build's job.

create table build_plan (
  build_id          uuid primary key references build (build_id) on delete cascade,
  plan              jsonb not null,
  needs_credentials boolean not null
);
