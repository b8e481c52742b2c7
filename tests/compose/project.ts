import { execFile, spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)
export const ROOT = join(import.meta.dirname, '../..')
/** Below a name that no resolver knows: the tests look it up themselves. */
export const DOMAIN = 'sandboxes.sandyard-test.internal'
const MAX_OUTPUT = 16 * 1024 ** 2

export const PORTS = {
  api: 13_000,
  metrics: 13_001,
  proxy: 13_002,
  balancedApi: 13_010,
  balancedProxy: 13_012,
  http: 13_080,
  https: 13_443,
}

const SETTINGS = {
  COMPOSE_PROJECT_NAME: 'sandyard-test',
  COMPOSE_PROFILES: 'tls,two-api',
  SANDYARD_API_PORT: String(PORTS.api),
  SANDYARD_METRICS_PORT: String(PORTS.metrics),
  SANDYARD_PROXY_PORT: String(PORTS.proxy),
  SANDYARD_BALANCED_API_PORT: String(PORTS.balancedApi),
  SANDYARD_BALANCED_PROXY_PORT: String(PORTS.balancedProxy),
  SANDYARD_HTTP_PORT: String(PORTS.http),
  SANDYARD_HTTPS_PORT: String(PORTS.https),
  SANDYARD_EGRESS_HEALTH_PORT: '13003',
  SANDYARD_EGRESS_TCP_PORT: '28443',
  SANDYARD_EGRESS_DNS_PORT: '28053',
  SANDYARD_CONTROL_SUBNET: '10.213.8.0/24',
  SANDYARD_CONTROL_RANGE: '10.213.8.128/25',
  SANDYARD_CONTROL_GATEWAY: '10.213.8.1',
  SANDYARD_CADDY_ADDRESS: '10.213.8.10',
  SANDYARD_TLS_ISSUER: 'internal',
}

/** A Compose project of the file at the root, with its own ports and networks. It is removed with its volumes on dispose. */
export class Project implements AsyncDisposable {
  readonly #folder = mkdtempSync(join(tmpdir(), 'sandyard-compose-'))
  readonly #environment: NodeJS.ProcessEnv

  /** @param settings - of the `.env` file, besides the ports */
  constructor(settings: Readonly<Record<string, string>> = {}) {
    this.configure(settings)
    const file = this.#file
    // oxlint-disable-next-line node/no-process-env -- the engine and the programs of this machine
    this.#environment = { ...process.env, COMPOSE_ENV_FILES: file, SANDYARD_ENV_FILE: file }
  }

  /** Replaces the `.env` file, for the next `up`. */
  configure(settings: Readonly<Record<string, string>>): void {
    const lines = Object.entries({ ...SETTINGS, ...settings }).map(([name, value]) => `${name}=${value}\n`)
    writeFileSync(this.#file, lines.join(''))
  }

  get #file(): string {
    return join(this.#folder, 'settings.env')
  }

  /** Runs `docker compose` and shows its output. @throws Error when it fails */
  async show(...args: readonly string[]): Promise<void> {
    const child = spawn('docker', ['compose', ...args], { cwd: ROOT, env: this.#environment, stdio: 'inherit' })
    const code = await new Promise<number | null>((resolve, reject) => child.once('error', reject).once('exit', resolve))
    if (code !== 0) throw new Error(`docker compose ${args.join(' ')} ended with ${code}`)
  }

  /** Runs `docker compose` and returns its output. @throws Error when it fails */
  async read(...args: readonly string[]): Promise<string> {
    const { stdout } = await run('docker', ['compose', ...args], { cwd: ROOT, env: this.#environment, maxBuffer: MAX_OUTPUT })
    return stdout
  }

  /** Ends the main process of a service as a crash would. */
  async kill(service: string): Promise<void> {
    await this.read('kill', '--signal', 'KILL', service)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const id = await this.read('exec', '-T', '--user', 'sandyard', 'api', 'cat', '/var/lib/sandyard/installation').catch(() => '')
    await this.read('down', '--volumes', '--timeout', '20').catch(() => undefined)
    if (id.trim() !== '') await removeFromEngine(id.trim())
    rmSync(this.#folder, { recursive: true, force: true })
  }
}

async function removeFromEngine(installation: string): Promise<void> {
  const { connectEngine } = await import('../../packages/runtime-docker/src/engine/connect-engine.ts')
  const { removeInstallations } = await import('../../packages/runtime-docker/src/remove-installation.ts')
  await removeInstallations(await connectEngine(), [installation])
}
