import { AppError } from '@sandyard/kit/errors/app-error'
import { randomId } from '@sandyard/kit/ids/ids'
import { connect } from './tables/connect.ts'

export interface ScratchDatabase extends AsyncDisposable {
  readonly url: string
}

/**
 * An empty database beside the one of `url`, on the same server; disposing drops it.
 *
 * @throws AppError `permission_denied` for a role that may not create databases
 */
export async function createScratchDatabase(url: string): Promise<ScratchDatabase> {
  const name = `sandyard_verify_${randomId(12)}`
  try {
    await administer(url, `create database ${name} template template0`)
  } catch (cause) {
    if (cause instanceof AppError) throw cause
    const reason = (cause as Error).message
    throw new AppError(
      'permission_denied',
      `A scratch database could not be created (${reason}): give the role CREATEDB, or check only the sums with --sums-only.`,
      { cause },
    )
  }
  const scratch = new URL(url)
  scratch.pathname = `/${name}`
  return { url: scratch.href, [Symbol.asyncDispose]: () => administer(url, `drop database if exists ${name} with (force)`) }
}

async function administer(url: string, statement: string): Promise<void> {
  const client = await connect(url)
  try {
    await client.query(statement)
  } finally {
    await client.end()
  }
}
