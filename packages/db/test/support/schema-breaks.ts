import type { Client } from 'pg'
import { readSchema, type Schema, type SchemaRecord } from '@sandyard/test-kit/schema-record'

/** The reasons for which rules of the newest schema refuse nothing that an older release writes, by `<table>: <rule>`. */
export type ReviewedRules = Readonly<Record<string, string>>

/** What a release would notice of the newest schema, one line each. None: the release serves beside it. Needs an open transaction. */
export async function findBreaks(client: Client, record: SchemaRecord, reviewed: ReviewedRules = {}): Promise<string[]> {
  const newest = await readSchema(client)
  const found = [...compareColumns(record.schema, newest), ...compareRules(record.schema, newest, reviewed)]
  for (const statement of record.statements) {
    await client.query('savepoint statement')
    try {
      // Plans it too: `on conflict` needs its unique index.
      await client.query(`explain (generic_plan) ${statement}`)
    } catch (err) {
      await client.query('rollback to statement')
      found.push(`a statement fails (${(err as Error).message}): ${statement}`)
    }
    await client.query('release statement')
  }
  return found
}

function compareColumns(former: Schema, newest: Schema): string[] {
  return Object.entries(former.columns).flatMap(([table, columns]) => {
    const now = newest.columns[table]
    if (now === undefined) return [`the table ${table} is gone`]
    const changed = Object.entries(columns).flatMap(([name, column]) => {
      const found = now[name]
      const place = `the column ${table}.${name}`
      if (found === undefined) return [`${place} is gone`]
      if (found.type !== column.type) return [`${place} is ${found.type}, not ${column.type}`]
      if (found.isNullable && !column.isNullable) return [`${place} may be null, which the release does not expect`]
      if (!found.isNullable && column.isNullable) return [`${place} must not be null, which the release may write`]
      if (!found.isOptional && column.isOptional) return [`${place} has no default any more`]
      return []
    })
    const added = Object.entries(now).filter(([name, { isOptional }]) => !isOptional && columns[name] === undefined)
    return [...changed, ...added.map(([name]) => `the new column ${table}.${name} needs a value, which the release does not give`)]
  })
}

function compareRules(former: Schema, newest: Schema, reviewed: ReviewedRules): string[] {
  return Object.keys(former.columns).flatMap((table) => {
    const known = new Set(former.rules[table])
    const added = (newest.rules[table] ?? []).filter((rule) => !known.has(rule) && reviewed[`${table}: ${rule}`] === undefined)
    return added.map((rule) => `a new rule of ${table} may refuse what the release writes: ${rule}`)
  })
}
