import { Client } from 'pg'
import { StartFailure } from './failures/start-failure.ts'

const CONNECT_TIMEOUT_MS = 10_000

/**
 * Checks the database of DATABASE_URL.
 *
 * @throws StartFailure that never contains the URL, because the URL contains a password
 */
export async function checkGivenDatabase(url: string): Promise<void> {
  if (!/^postgres(ql)?:\/\//.test(url) || !URL.canParse(url)) {
    throw new StartFailure('DATABASE_URL is not the URL of a Postgres database: write postgres://user:password@host:port/database.')
  }
  const client = new Client({ connectionString: url, connectionTimeoutMillis: CONNECT_TIMEOUT_MS })
  client.on('error', () => undefined)
  try {
    await client.connect()
    await client.query('select 1')
  } catch (cause) {
    const { hostname, port } = new URL(url)
    const { code, message } = cause as NodeJS.ErrnoException
    const reason = message === '' ? (code ?? 'no answer') : message
    throw new StartFailure(
      `The database of DATABASE_URL (${hostname}:${port || '5432'}) cannot be used (${reason}): start it or correct DATABASE_URL.`,
      { cause },
    )
  } finally {
    await client.end().catch(() => undefined)
  }
}
