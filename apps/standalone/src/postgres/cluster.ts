import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { chownSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { writePrivateFile } from '@sandyard/api/program/data/write-private-file'
import { StartFailure } from '@sandyard/api/program/failures/start-failure'
import { runAs, type Account } from './account.ts'
import type { PostgresBinaries } from './binaries.ts'

export interface ClusterOptions {
  readonly folder: string
  readonly passwordFile: string
  readonly binaries: PostgresBinaries
  readonly account: Account | undefined
}

/** The superuser of the embedded database. */
export const SUPERUSER = 'sandyard'

const INITDB_TIMEOUT_MS = 120_000
/** The database's files must have the major version of this release's binaries, which cannot read files of another one. */
const MAJOR_VERSION = '18'

/**
 * Ensures that the database's files exist and fit these binaries, and returns the superuser's password. The files get
 * their final name only when all are written.
 *
 * @throws StartFailure for files of another Postgres, a lost password, or an `initdb` that fails
 */
export async function ensureCluster(options: ClusterOptions): Promise<string> {
  const { folder, passwordFile } = options
  removeDrafts(folder)
  if (!existsSync(folder)) {
    if (!existsSync(passwordFile)) writePrivateFile(passwordFile, `${randomBytes(24).toString('base64url')}\n`)
    const password = readFileSync(passwordFile, 'utf8').trim()
    await initialise(options, password)
    return password
  }
  checkVersion(folder)
  if (!existsSync(passwordFile))
    throw new StartFailure(
      `${passwordFile} is missing, and the database in ${folder} needs it: restore it, or move both away to start with an empty database.`,
    )
  return readFileSync(passwordFile, 'utf8').trim()
}

function checkVersion(folder: string): void {
  const file = join(folder, 'PG_VERSION')
  const version = existsSync(file) ? readFileSync(file, 'utf8').trim() : undefined
  if (version === MAJOR_VERSION) return
  if (version === undefined) throw new StartFailure(`${folder} is not a Postgres database: move it away and run this again.`)
  throw new StartFailure(
    `The database in ${folder} was made by Postgres ${version}, and this release has Postgres ${MAJOR_VERSION}, which cannot read it: run \`sandyard backup\` with the release that made it, move ${folder} away, and run \`sandyard restore\` with this one (docs/upgrading.md).`,
  )
}

async function initialise({ folder, binaries, account }: ClusterOptions, password: string): Promise<void> {
  const draft = `${folder}.new`
  const passwordForInit = `${folder}.new-password`
  writePrivateFile(passwordForInit, password)
  mkdirSync(draft, { mode: 0o700 })
  if (account !== undefined) {
    chownSync(draft, account.uid, account.gid)
    chownSync(passwordForInit, account.uid, account.gid)
  }
  const args = [
    '-D',
    draft,
    '-U',
    SUPERUSER,
    `--pwfile=${passwordForInit}`,
    '-A',
    'scram-sha-256',
    '-E',
    'UTF8',
    '--locale=C',
    '--no-instructions',
  ]
  const command = runAs(account, { program: binaries.initdb, args }, [binaries.initdb, draft])
  try {
    const environment = { PATH: '/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' }
    await promisify(execFile)(command.program, command.args, { timeout: INITDB_TIMEOUT_MS, env: environment, cwd: '/' })
  } catch (err) {
    const { stderr = '', message } = err as Error & { stderr?: string }
    removeDrafts(folder)
    throw failedInit(folder, stderr === '' ? message : stderr)
  }
  rmSync(passwordForInit)
  renameSync(draft, folder)
}

function failedInit(folder: string, errorOutput: string): StartFailure {
  if (/No space left/i.test(errorOutput))
    return new StartFailure(`The disk that holds ${folder} is full: free some space and run this again.`)
  const lines = errorOutput.trim().split('\n')
  const line = lines.findLast((text) => /error|fatal|could not|cannot/i.test(text)) ?? lines.at(-1) ?? ''
  return new StartFailure(`The database could not be set up in ${folder} (${line.replace(/^initdb: /, '').trim()}).`)
}

/** Removes the leftovers of a killed set-up. */
function removeDrafts(folder: string): void {
  const parent = dirname(folder)
  for (const name of readdirSync(parent)) {
    if (name.startsWith(`${basename(folder)}.new`)) rmSync(join(parent, name), { recursive: true, force: true })
  }
}
