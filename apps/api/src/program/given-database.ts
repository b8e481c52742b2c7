import { Client } from 'pg'
import type { DatabaseUrls } from '@sandyard/db/database'
import { StartFailure } from './failures/start-failure.ts'

const CONNECT_TIMEOUT_MS = 10_000

/**
 * Checks the database of DATABASE_URL, and of DATABASE_DIRECT_URL.
 *
 * @throws StartFailure that never contains a URL, because URLs contain passwords
 */
export async function checkGivenDatabase({ url, directUrl }: DatabaseUrls): Promise<void> {
  // Connections that do not lead through a pool set their timeouts at the start, which most pools refuse.
  await check('DATABASE_URL', url, url === directUrl ? { statement_timeout: CONNECT_TIMEOUT_MS } : {})
  if (directUrl !== url) await check('DATABASE_DIRECT_URL', directUrl, {})
}

async function check(setting: string, url: string, options: { readonly statement_timeout?: number }): Promise<void> {
  if (!/^postgres(ql)?:\/\//.test(url) || !URL.canParse(url)) {
    throw new StartFailure(`${setting} is not the URL of a Postgres database: write postgres://user:password@host:port/database.`)
  }
  const client = new Client({
    connectionString: url,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    query_timeout: CONNECT_TIMEOUT_MS,
    ...options,
  })
  client.on('error', () => undefined)
  try {
    await client.connect()
    await client.query('select 1')
  } catch (cause) {
    throw new StartFailure(explain(setting, url, cause as NodeJS.ErrnoException), { cause })
  } finally {
    await client.end().catch(() => undefined)
  }
}

function explain(setting: string, url: string, { code, message }: NodeJS.ErrnoException): string {
  const { hostname, port } = new URL(url)
  const place = `The database of ${setting} (${hostname}:${port || '5432'})`
  if (message.includes('unsupported startup parameter')) {
    return `${place} is behind a connection pool: set DATABASE_DIRECT_URL to the URL of the database itself.`
  }
  return `${place} cannot be used (${message === '' ? (code ?? 'no answer') : message}): start it or correct ${setting}.`
}
