import { Client } from 'pg'
import { AppError } from '@sandyard/kit/errors/app-error'

const CONNECT_TIMEOUT_MS = 10_000

/**
 * A connection of its own for long copies, so without the timeouts of statements and transactions; a server that has gone is noticed by the
 * keep-alives of TCP.
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

export function quote(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}
