import { spawn, type ChildProcess } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { closeSync, existsSync, mkdirSync, openSync, readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { pollUntil } from '../../packages/kit/src/async/poll-until.ts'
import { ROOT } from './run-command.ts'

export interface TestServer extends AsyncDisposable {
  /** The printed settings for clients, the URL of the metrics, and the administrator's token. */
  readonly environment: Readonly<Record<string, string>>
}

const READY_TIMEOUT_MS = 300_000
const STOP_TIMEOUT_MS = 60_000
const OUTPUT = join(ROOT, '.tools/reports/server.out')

/** Starts the program of `npm start` with its own data and ports, and reads the settings for clients from its output. */
export async function startTestServer(settings: Readonly<Record<string, string>> = {}): Promise<TestServer> {
  const directory = await mkdtemp(join(tmpdir(), 'sandyard-test-server-'))
  const adminToken = randomBytes(16).toString('hex')
  const child = launch(directory, { SANDYARD_ADMIN_TOKEN: adminToken, ...settings })
  const stop = async (): Promise<void> => {
    await endServer(child)
    await removeFromEngine(join(directory, 'installation'))
    await rm(directory, { recursive: true, force: true })
  }
  try {
    const exports = await pollUntil({ what: 'the server', timeoutMs: READY_TIMEOUT_MS, everyMs: 100 }, () => {
      if (child.exitCode !== null || child.signalCode !== null) throw new Error(`the server ended: ${lastLines()}`)
      const printed = readFileSync(OUTPUT, 'utf8')
      if (!printed.includes('Ctrl-C')) return undefined
      return {
        ...exportsOf(printed),
        SANDYARD_TEST_METRICS_URL: metricsUrlOf(printed),
        SANDYARD_TEST_ADMIN_TOKEN: adminToken,
        SANDYARD_TEST_DATA_DIR: directory,
      }
    })
    return { environment: exports, [Symbol.asyncDispose]: stop }
  } catch (err) {
    await stop()
    throw err
  }
}

function launch(directory: string, settings: Readonly<Record<string, string>>): ChildProcess {
  mkdirSync(dirname(OUTPUT), { recursive: true })
  const output = openSync(OUTPUT, 'w')
  try {
    return spawn(process.execPath, [join(ROOT, 'apps/standalone/src/main.ts')], {
      cwd: ROOT,
      stdio: ['ignore', output, output],
      env: {
        ...process.env,
        SANDYARD_DATA_DIR: directory,
        SANDYARD_API_PORT: '0',
        SANDYARD_PROXY_PORT: '0',
        SANDYARD_METRICS_PORT: '0',
        SANDYARD_EGRESS_HEALTH_PORT: '0',
        // A test starts a registry at this address.
        SANDYARD_REGISTRIES: '*,127.0.0.1',
        // And a receiver of webhooks.
        SANDYARD_WEBHOOK_ALLOW_PRIVATE: '127.0.0.1',
        SANDYARD_SECRETS_KEY: randomBytes(32).toString('hex'),
        ...settings,
      },
    })
  } finally {
    closeSync(output)
  }
}

/** Parses the `export NAME=value` lines as a shell would. */
export function exportsOf(printed: string): Record<string, string> {
  return Object.fromEntries([...printed.matchAll(/^\s*export (\w+)=(\S+)\s*$/gm)].map((match) => [match[1] ?? '', match[2] ?? '']))
}

function metricsUrlOf(printed: string): string {
  return /^\s*Metrics\s+(\S+)$/m.exec(printed)?.[1] ?? ''
}

async function endServer(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  const timer = setTimeout(() => child.kill('SIGKILL'), STOP_TIMEOUT_MS)
  child.kill('SIGTERM')
  await ended
  clearTimeout(timer)
}

/** The server keeps sandboxes that have not expired, and their network, for its next start; in a test there is none. */
export async function removeFromEngine(installationFile: string): Promise<void> {
  if (!existsSync(installationFile)) return
  const { connectEngine } = await import('../../packages/runtime-docker/src/engine/connect-engine.ts')
  const { removeInstallations } = await import('../../packages/runtime-docker/src/remove-installation.ts')
  await removeInstallations(await connectEngine(process.env['DOCKER_HOST']), [readFileSync(installationFile, 'utf8').trim()])
}

function lastLines(): string {
  return readFileSync(OUTPUT, 'utf8').trim().split('\n').slice(-5).join(' | ')
}
