import { randomUUID } from 'node:crypto'
import { Client, type Notification } from 'pg'
import { resultWithin } from '@sandyard/kit/async/within'
import { AppError } from '@sandyard/kit/errors/app-error'

const CONNECT_TIMEOUT_MS = 10_000
/** A notification takes milliseconds. */
const HEAR_TIMEOUT_MS = 5000
const CHANNEL = 'sandyard_session_probe'

/**
 * Checks that a connected client has a session of the database, and not a pool in transaction mode (PgBouncer) between them. Behind a pool, which is one in session
 * mode or one in transaction mode, it listens and sends itself a notification: only a session hears it.
 *
 * @throws AppError `failed_precondition` that names the settings
 */
export async function assertSession(client: Client, url: string): Promise<void> {
  const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid')
  // Without a pool the process of the connection's start is the one that serves it. The number is not in the types.
  if (rows[0]?.pid === (client as Client & { readonly processID?: number }).processID) return
  const sent = randomUUID()
  const heard = Promise.withResolvers<true>()
  const onNotification = ({ payload }: Notification): void => {
    if (payload === sent) heard.resolve(true)
  }
  client.on('notification', onNotification)
  try {
    await client.query(`listen ${CHANNEL}`)
    await notify(url, sent)
    const isHeard = await resultWithin(HEAR_TIMEOUT_MS, heard.promise)
    await client.query(`unlisten ${CHANNEL}`)
    if (isHeard === true) return
  } finally {
    client.off('notification', onNotification)
  }
  throw new AppError(
    'failed_precondition',
    'The database is reached through a connection pool in transaction mode, which carries no notifications and no locks of sessions: ' +
      'set DATABASE_DIRECT_URL to the URL of the database itself, and DATABASE_URL to the one of the pool.',
  )
}

async function notify(url: string, payload: string): Promise<void> {
  const client = new Client({ connectionString: url, connectionTimeoutMillis: CONNECT_TIMEOUT_MS, query_timeout: CONNECT_TIMEOUT_MS })
  client.on('error', () => undefined)
  try {
    await client.connect()
    await client.query('select pg_notify($1, $2)', [CHANNEL, payload])
  } finally {
    await client.end().catch(() => undefined)
  }
}
