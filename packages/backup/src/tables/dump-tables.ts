import type { Client } from 'pg'
import { to } from 'pg-copy-streams'
import type { ArchiveWriter } from '../archive/archive-writer.ts'
import { tableEntry, type TableDump } from '../manifest.ts'
import { isBackedUp, listTables } from './catalog.ts'
import { quote } from './connect.ts'

/** Copies all rows of all tables, as the transaction of `client` sees them. */
export async function dumpTables(client: Client, writer: ArchiveWriter): Promise<TableDump[]> {
  const dumps: TableDump[] = []
  for (const { name, columns } of (await listTables(client)).filter(isBackedUp)) {
    const copy = client.query(to(`copy ${quote(name)} (${columns.map(quote).join(', ')}) to stdout`))
    await writer.add(tableEntry(name), copy)
    dumps.push({ name, columns: [...columns], rows: copy.rowCount })
  }
  return dumps
}
