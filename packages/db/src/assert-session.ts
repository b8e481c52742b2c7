import { randomUUID } from 'node:crypto'
import { Client } from 'pg'
import { AppError } from '@sandyard/kit/errors/app-error'

const TIMEOUT_MS = 10_000
const PROBE = 'sandyard.session_probe'

/**
 * Checks that a connected client keeps its session between transactions. A pool in transaction mode (PgBouncer) is between them when a setting of the session
 * is gone as soon as another client has taken its server connection.
 *
 * @throws AppError `failed_precondition` that names the settings
 */
export async function assertSession(client: Client, url: string): Promise<void> {
  const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid')
  // Without a pool the number of the start of the connection is the one of the server process.
  if (rows[0]?.pid === (client as Client & { readonly processID?: number }).processID) return
  const value = randomUUID()
  await client.query(`select set_config('${PROBE}', $1, false)`, [value])
  const other = new Client({ connectionString: url, connectionTimeoutMillis: TIMEOUT_MS, query_timeout: TIMEOUT_MS })
  other.on('error', () => undefined)
  try {
    await other.connect()
    await other.query('begin')
    const { rows: found } = await client.query<{ value: string | null }>(`select current_setting('${PROBE}', true) as value`)
    if (found[0]?.value === value) return
  } finally {
    await other.end().catch(() => undefined)
  }
  throw new AppError(
    'failed_precondition',
    'The database is reached through a connection pool in transaction mode, which carries no notifications and no locks of sessions: ' +
      'set DATABASE_DIRECT_URL to the URL of the database itself, and DATABASE_URL to the one of the pool.',
  )
}
