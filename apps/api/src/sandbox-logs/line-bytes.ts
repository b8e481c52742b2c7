import { sql } from 'kysely'

/** SQL: what the message and the fields of a `line` take as text. */
export const lineBytes = sql<number>`octet_length(line.message) + octet_length(line.fields::text)`
