import { readFile } from 'node:fs/promises'
import { Database } from '../../../packages/db/src/database.ts'
import { TOKEN_SEED_SETTING } from '../../../packages/db/src/sandbox-token.ts'
import { silentLogger } from '../../../packages/kit/src/logging/create-logger.ts'
import { setup, teardown } from '../../../packages/test-kit/src/postgres-for-run.ts'
import { createTestDatabase } from '../../../packages/test-kit/src/postgres.ts'
import { SandboxRows } from '../../../packages/test-kit/src/sandbox-rows.ts'
import { ChildProgram } from '../../../apps/standalone/src/children/child-program.ts'
import { PROXY } from '../../../apps/standalone/src/children/programs.ts'

export interface Proxied {
  readonly ports: readonly number[]
  readonly pids: readonly number[]
  /** `i1`, `i2`, ...: one running sandbox for each host. */
  readonly sandboxIds: readonly string[]
  readonly rows: SandboxRows
}

export interface ProxiedOptions {
  /** The addresses of the sandboxes. */
  readonly hosts: readonly string[]
  readonly proxies: number
}

/** The default of `SANDYARD_PROXY_HEAP`, in MiB. */
const HEAP_MIB = 512

/** Runs `work` beside proxy processes with their default caps, on one database of their own. */
export async function runProxies({ hosts, proxies }: ProxiedOptions, work: (proxied: Proxied) => Promise<void>): Promise<void> {
  await setup()
  try {
    await using home = await createTestDatabase()
    await using database = new Database({ url: home.url, applicationName: 'long-run', log: silentLogger() })
    const seed = { name: TOKEN_SEED_SETTING, value: 'ab'.repeat(32) }
    await database.db.insertInto('server_setting').values(seed).execute()
    const rows = await SandboxRows.create(database)
    const sandboxIds = await Promise.all(hosts.map((host, i) => runningSandbox(rows, `i${i + 1}`, host)))
    const environment = { DATABASE_URL: home.url, SANDYARD_PROXY_PORT: '0', SANDYARD_LOG_LEVEL: 'warn' }
    const running = Array.from({ length: proxies }, () => new ChildProgram({ program: PROXY, environment, heapMib: HEAP_MIB }))
    try {
      const ports = await Promise.all(running.map((proxy) => proxy.listening))
      await work({ ports, pids: running.map(({ pid = 0 }) => pid), sandboxIds, rows })
    } finally {
      await Promise.all(running.map((proxy) => proxy.stop(10_000)))
    }
  } finally {
    await teardown()
  }
}

async function runningSandbox(rows: SandboxRows, sandboxId: string, host: string): Promise<string> {
  await rows.insert(sandboxId)
  await rows.setState(sandboxId, 'running', { endpoint_host: host, endpoint_daemon_port: 9 })
  return sandboxId
}

/** The private memory of a process in MiB. */
export async function privateMib(pid: number): Promise<number> {
  const rollup = await readFile(`/proc/${pid}/smaps_rollup`, 'utf8')
  const kib = [...rollup.matchAll(/^Private_(?:Clean|Dirty): +(\d+) kB$/gm)].map((match) => Number(match[1]))
  return Math.round(kib.reduce((sum, part) => sum + part, 0) / 1024)
}
