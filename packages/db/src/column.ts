import type { ColumnType } from 'kysely'

/**
 * What Postgres says of a column: its type as `format_type` prints it, ` null` added where it may be null. Each table's type
 * has such a list beside it, and the drift test compares the lists with a migrated database.
 */
export type Columns<Table> = { readonly [K in keyof Table]-?: string }

/** Set by the database when the row is inserted, and never written afterwards. */
export type CreatedAt = ColumnType<Date, never, never>

/** A time that the database gives a default for. */
export type DefaultedTime = ColumnType<Date, Date | undefined, Date>
