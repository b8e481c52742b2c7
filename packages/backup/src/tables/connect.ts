import { Client, DatabaseError } from 'pg'
import { AppError } from '@sandyard/kit/errors/app-error'

const CONNECT_TIMEOUT_MS = 10_000
const LOCK_TIMEOUT_S = 30
const LOCK_NOT_AVAILABLE = '55P03'

/**
 * A connection of its own for long copies, so without the timeouts of statements and transactions; a server that has gone is noticed by the
 * keep-alives of TCP. A statement waits half a minute for a lock.
 *
 * @throws AppError `unavailable` without the URL, because the URL contains a password
 */
export async function connect(url: string): Promise<Client> {
  const client = new Client({
    connectionString: url,
    application_name: 'sandyard-backup',
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    keepAlive: true,
  })
  // A lost connection fails the running query; without a listener the error would end the process.
  client.on('error', () => undefined)
  try {
    await client.connect()
    await client.query('set statement_timeout = 0')
    await client.query(`set lock_timeout = '${LOCK_TIMEOUT_S}s'`)
    await client.query('set idle_in_transaction_session_timeout = 0')
    return client
  } catch (cause) {
    await client.end().catch(() => undefined)
    const { hostname, port } = new URL(url)
    const { code, message } = cause as NodeJS.ErrnoException
    const where = hostname === '' ? '' : ` (${hostname}:${port || '5432'})`
    throw new AppError('unavailable', `The database${where} does not answer (${message || (code ?? 'no reason')}).`, { cause })
  }
}

/**
 * Runs `work` with a connection of `connect` and closes it. An abort closes it too, which ends the running statement for this process.
 *
 * @throws AppError as `connect`; `failed_precondition` for a lock that others hold; the abort reason; what `work` throws
 */
export async function withConnection<T>(url: string, signal: AbortSignal | undefined, work: (client: Client) => Promise<T>): Promise<T> {
  signal?.throwIfAborted()
  const client = await connect(url)
  const end = (): Promise<void> => client.end().catch(() => undefined)
  const onAbort = (): void => void end()
  signal?.addEventListener('abort', onAbort, { once: true })
  try {
    return await work(client)
  } catch (err) {
    signal?.throwIfAborted()
    if (!(err instanceof DatabaseError) || err.code !== LOCK_NOT_AVAILABLE) throw err
    throw new AppError(
      'failed_precondition',
      `Another program has locked a table for more than ${LOCK_TIMEOUT_S} s: end its transaction, and repeat it.`,
      { cause: err },
    )
  } finally {
    signal?.removeEventListener('abort', onAbort)
    await end()
  }
}

export function quote(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}
