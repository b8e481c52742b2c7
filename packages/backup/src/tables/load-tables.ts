import { pipeline } from 'node:stream/promises'
import type { Client } from 'pg'
import { from } from 'pg-copy-streams'
import { ENGINE_SETTING, UNFINISHED_RESTORE } from '@sandyard/db/engine-setting'
import { AppError } from '@sandyard/kit/errors/app-error'
import { readEntries, type ReadOptions } from '../archive/read-entries.ts'
import { tableOfEntry, type Manifest, type TableDump } from '../manifest.ts'
import { listTables } from './catalog.ts'
import { quote } from './connect.ts'

export interface TablesToLoad extends ReadOptions {
  readonly file: string
  readonly manifest: Manifest
}

/**
 * Loads all rows of a backup into empty tables of the same schema (but for settings, which it replaces), in one transaction, and sets the sequences. The entries of the archive are
 * in the order of the foreign keys. No server starts with the database before `adoptRestored` of the api has completed the restore.
 *
 * @throws AppError `invalid_argument` for rows that the schema does not accept; then nothing was loaded
 */
export async function loadTables(client: Client, { file, manifest, ...options }: TablesToLoad): Promise<void> {
  const dumps = new Map(manifest.tables.map((table) => [table.name, table]))
  const known = new Set((await listTables(client)).map(({ name }) => name))
  await client.query('begin')
  try {
    // A server that starts meanwhile reads that the restore is not complete, and cannot add a setting of its own.
    await client.query('lock table server_setting in share row exclusive mode')
    await client.query('delete from server_setting')
    for await (const { name, data } of readEntries(file, options)) {
      const table = tableOfEntry(name)
      const dump = table === undefined ? undefined : dumps.get(table)
      if (dump === undefined) continue
      if (!known.has(dump.name))
        throw new AppError('invalid_argument', `The backup has a table "${dump.name}" that its schema does not have.`)
      await loadTable(client, dump, data)
      dumps.delete(dump.name)
      // The rest of the archive is images.
      if (dumps.size === 0) break
    }
    await client.query('insert into server_setting (name, value) values ($1, $2) on conflict (name) do update set value = excluded.value', [
      ENGINE_SETTING,
      UNFINISHED_RESTORE,
    ])
    for (const { name, value, isCalled } of manifest.sequences)
      await client.query('select setval($1::regclass, $2::bigint, $3)', [quote(name), value, isCalled])
    await client.query('commit')
  } catch (err) {
    await client.query('rollback').catch(() => undefined)
    throw err
  }
}

async function loadTable(client: Client, { name, columns, rows }: TableDump, data: AsyncIterable<Buffer>): Promise<void> {
  const copy = client.query(from(`copy ${quote(name)} (${columns.map(quote).join(', ')}) from stdin`))
  try {
    await pipeline(data, copy)
  } catch (cause) {
    if (cause instanceof AppError) throw cause
    throw new AppError('invalid_argument', `The rows of the table "${name}" could not be loaded (${(cause as Error).message}).`, { cause })
  }
  if (copy.rowCount !== rows) throw new AppError('invalid_argument', `The table "${name}" has ${copy.rowCount} rows instead of ${rows}.`)
}
