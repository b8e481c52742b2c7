import { existsSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from 'pg'
import { afterAll, expect, it } from 'vitest'
import { openDataDirectory, type DataDirectory } from '@sandyard/api/program/data/data-directory'
import { startEmbeddedPostgres, type EmbeddedPostgres } from '../src/postgres/embedded-postgres.ts'
import { commandLine, identifyProcess } from '../src/process/process-identity.ts'

const folders: string[] = []

afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true })
})

/** Closed to other users, like a clone under root's home. */
function newDirectory(): DataDirectory {
  const folder = mkdtempSync(join(tmpdir(), 'standalone-postgres-'))
  folders.push(folder)
  return openDataDirectory(join(folder, 'data'))
}

const said: string[] = []

function start(directory: DataDirectory): Promise<EmbeddedPostgres> {
  return startEmbeddedPostgres({ directory, port: 0, say: (line) => said.push(line), settings: ['fsync=off'] })
}

async function query(url: string, text: string): Promise<unknown[]> {
  const client = new Client({ connectionString: url })
  await client.connect()
  try {
    return (await client.query<Record<string, unknown>>(text)).rows
  } finally {
    await client.end()
  }
}

it('keeps its rows after a clean stop and after a kill of the server', async () => {
  const directory = newDirectory()
  const first = await start(directory)
  await query(first.url, 'create table t (n int); insert into t values (1)')
  await first[Symbol.asyncDispose]()
  expect(identifyProcess(first.pid)).toBeUndefined()

  const second = await start(directory)
  await query(second.url, 'insert into t values (2)')
  // The second one is not disposed: it runs on after its server was killed.
  const third = await start(directory)
  expect(said).toContain('ended the Postgres of a server that was killed')
  expect(identifyProcess(second.pid)).toBeUndefined()
  expect(await query(third.url, 'select n from t order by n')).toEqual([{ n: 1 }, { n: 2 }])

  process.kill(third.pid, 'SIGKILL')
  await third.ended
  const fourth = await start(directory)
  expect(await query(fourth.url, 'select count(*)::int as rows from t')).toEqual([{ rows: 2 }])
  await fourth[Symbol.asyncDispose]()
}, 60_000)

it('accepts connections over loopback with the password only, and stores both files for their owner only', async () => {
  const directory = newDirectory()
  await using postgres = await start(directory)
  const { password } = new URL(postgres.url)
  await expect(query(postgres.url.replace(password, 'wrong'), 'select 1')).rejects.toThrow(/password authentication failed/)
  expect(statSync(directory.postgresPassword).mode & 0o777).toBe(0o600)
  expect(statSync(directory.postgres).mode & 0o777).toBe(0o700)
  expect(commandLine(postgres.pid)).toContain('listen_addresses=127.0.0.1')
  expect(commandLine(postgres.pid).join(' ')).not.toContain(password)
})

it('does not end a process that only has the pid of a former Postgres', async () => {
  const directory = newDirectory()
  await (await start(directory))[Symbol.asyncDispose]()
  writeFileSync(join(directory.postgres, 'postmaster.pid'), `${process.pid}\n${directory.postgres}\n`)
  await using postgres = await start(directory)
  expect(postgres.pid).not.toBe(process.pid)
})

it('reports in one sentence what is wrong with the files', async () => {
  const directory = newDirectory()
  await (await start(directory))[Symbol.asyncDispose]()
  rmSync(directory.postgresPassword)
  await expect(start(directory)).rejects.toThrow(/postgres-password is missing/)
  writeFileSync(directory.postgresPassword, 'wrong\n')
  await expect(start(directory)).rejects.toThrow(/is not the one of the database/)
  rmSync(join(directory.postgres, 'global'), { recursive: true })
  await expect(start(directory)).rejects.toThrow(/^Postgres did not start \(.+\): see .*postgres\.log\.$/)
  writeFileSync(join(directory.postgres, 'PG_VERSION'), '12\n')
  await expect(start(directory)).rejects.toThrow(/made by Postgres 12/)
  rmSync(join(directory.postgres, 'PG_VERSION'))
  await expect(start(directory)).rejects.toThrow(/is not a Postgres database/)
}, 60_000)

it('starts again after a killed set-up', async () => {
  const directory = newDirectory()
  writeFileSync(`${directory.postgres}.new-password`, 'left')
  await using postgres = await start(directory)
  expect(existsSync(`${directory.postgres}.new-password`)).toBe(false)
  expect(await query(postgres.url, 'select 1 as one')).toEqual([{ one: 1 }])
})
