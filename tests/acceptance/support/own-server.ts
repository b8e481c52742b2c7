import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { vi } from 'vitest'
import { descendantsOf, isAlive } from './processes.ts'

const root = join(import.meta.dirname, '../../..')

/** Options of the SDK for a server other than the one in the environment. */
export interface Connection {
  readonly apiKey: string
  readonly apiUrl: string
  readonly sandboxUrl: string
}

/** A server that a test starts, kills and stops. */
export interface OwnServer {
  readonly connection: Connection
  /** Kills the server with SIGKILL; with `everything` also its database, like a power failure. */
  crash(how: 'server' | 'everything'): Promise<void>
  /** Sends SIGTERM to the server, and returns its exit code. */
  stop(): Promise<number | null>
  /** Kills the remaining processes, also after a failed test. */
  [Symbol.asyncDispose](): Promise<void>
}

/** Runs `npm start` with this data directory and free ports; returns when it has printed the settings for clients. */
export async function startOwnServer(dataDir: string, settings: NodeJS.ProcessEnv = {}): Promise<OwnServer> {
  const child = spawn('sh', ['tools/run', 'start'], {
    cwd: root,
    env: { ...environment(dataDir), ...settings },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const pid = child.pid ?? 0
  const output = collect(child)
  const exited = once(child, 'exit') as Promise<[number | null]>
  const crash: OwnServer['crash'] = async (how) => {
    const victims = how === 'everything' ? [pid, ...descendantsOf(pid)] : [pid]
    for (const victim of victims) kill(victim, 'SIGKILL')
    await exited
    await vi.waitUntil(() => !victims.some(isAlive), { timeout: 10_000 })
  }
  const dispose = async (): Promise<void> => {
    if (child.exitCode === null && child.signalCode === null) await crash('everything')
  }
  try {
    await vi.waitUntil(() => child.exitCode !== null || output().includes('E2B_VOLUME_API_URL='), { timeout: 200_000 })
    return {
      connection: readConnection(output()),
      crash,
      stop: async () => {
        child.kill('SIGTERM')
        return (await exited)[0]
      },
      [Symbol.asyncDispose]: dispose,
    }
  } catch (error) {
    await dispose()
    throw new Error(`the server did not start:\n${output()}`, { cause: error })
  }
}

function environment(dataDir: string): NodeJS.ProcessEnv {
  const ports = { SANDYARD_API_PORT: '0', SANDYARD_PROXY_PORT: '0', SANDYARD_METRICS_PORT: '0', SANDYARD_EGRESS_HEALTH_PORT: '0' }
  return { ...process.env, ...ports, SANDYARD_DATA_DIR: dataDir }
}

function collect(child: ChildProcess): () => string {
  let text = ''
  for (const stream of [child.stdout, child.stderr]) stream?.setEncoding('utf8').on('data', (chunk: string) => void (text += chunk))
  return () => text
}

function readConnection(printed: string): Connection {
  const setting = (name: string): string => {
    const value = new RegExp(`^\\s*export ${name}=(\\S+)$`, 'm').exec(printed)?.[1]
    if (value === undefined) throw new Error(`the server printed no line "export ${name}=..."`)
    return value
  }
  return { apiKey: setting('E2B_API_KEY'), apiUrl: setting('E2B_API_URL'), sandboxUrl: setting('E2B_SANDBOX_URL') }
}

function kill(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal)
  } catch {
    // The process has already ended.
  }
}
