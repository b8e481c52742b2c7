import type { ColumnType } from 'kysely'

/**
 * The column types in Postgres, as `format_type` prints them, with ` null` for nullable ones. Each table's type has such a list beside it,
 * and the drift test compares the lists with a migrated database.
 */
export type Columns<Table> = { readonly [K in keyof Table]-?: string }

/** Set by the database on insert, then immutable. */
export type CreatedAt = ColumnType<Date, never, never>

/** A time with a default in the database. */
export type DefaultedTime = ColumnType<Date, Date | undefined, Date>
