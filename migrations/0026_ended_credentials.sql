-- Keys and tokens are deleted some days after their end.
create index api_key_expiry on api_key (expires_at) where expires_at is not null;
create index access_token_expiry on access_token (expires_at) where expires_at is not null;
