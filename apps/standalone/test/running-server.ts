import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { pollUntil } from '@sandyard/kit/async/poll-until'
import { connectEngine } from '@sandyard/runtime-docker/engine/connect-engine'
import { removeInstallations } from '@sandyard/runtime-docker/remove-installation'
import { commandLine } from '../src/process/process-identity.ts'

const MAIN = join(import.meta.dirname, '../src/main.ts')
const READY_TIMEOUT_MS = 240_000

/** The server as `npm start` runs it, in its own process, on free ports. */
export class RunningServer {
  readonly #child: ChildProcess
  #output = ''

  constructor(dataDir: string, environment: NodeJS.ProcessEnv) {
    const ports = { SANDYARD_API_PORT: '0', SANDYARD_PROXY_PORT: '0', SANDYARD_METRICS_PORT: '0', SANDYARD_EGRESS_HEALTH_PORT: '0' }
    this.#child = spawn(process.execPath, [MAIN], {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...environment, ...ports, SANDYARD_DATA_DIR: dataDir },
    })
    for (const stream of [this.#child.stdout, this.#child.stderr]) {
      stream?.setEncoding('utf8').on('data', (chunk: string) => (this.#output += chunk))
    }
  }

  get output(): string {
    return this.#output
  }

  get pid(): number {
    return this.#child.pid ?? 0
  }

  /** The process of the proxy; undefined when there is none. */
  get proxyPid(): number | undefined {
    const children = readFileSync(`/proc/${this.pid}/task/${this.pid}/children`, 'utf8').trim().split(' ').map(Number)
    return children.find((pid) => commandLine(pid).some((part) => part.endsWith('proxy/src/main.ts')))
  }

  async metrics(): Promise<string> {
    const url = /^ {2}Metrics +(\S+)$/m.exec(this.#output)?.[1] ?? ''
    return (await fetch(url)).text()
  }

  /** Waits until the output contains `text`; fails at once when the process ends first. */
  async printed(text: string): Promise<void> {
    await pollUntil({ what: `"${text}" in ${JSON.stringify(this.#output)}`, timeoutMs: READY_TIMEOUT_MS, everyMs: 20 }, () => {
      if (this.#output.includes(text)) return true
      if (this.#child.exitCode !== null) throw new Error(`the server ended: ${this.#output}`)
      return undefined
    })
  }

  async ready(): Promise<this> {
    await this.printed('Ctrl-C stops')
    return this
  }

  /** The value of a setting in the `export` lines. */
  setting(name: string): string {
    return new RegExp(`^  export ${name}=(\\S+)$`, 'm').exec(this.#output)?.[1] ?? ''
  }

  call(method: string, path: string, body?: unknown): Promise<Response> {
    return fetch(`${this.setting('E2B_API_URL')}${path}`, {
      method,
      headers: { 'X-API-Key': this.setting('E2B_API_KEY'), ...(body === undefined ? {} : { 'Content-Type': 'application/json' }) },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
  }

  /** Sends the signal and waits for the end of the process. */
  async end(signal: NodeJS.Signals): Promise<number | null> {
    if (this.#child.exitCode === null && this.#child.signalCode === null) {
      const ended = once(this.#child, 'exit')
      this.#child.kill(signal)
      await ended
    }
    return this.#child.exitCode
  }
}

/** Removes everything that a server of this data directory has on the engine, and the directory. */
export async function removeServer(dataDir: string, dockerHost: string | undefined): Promise<void> {
  const id = readFileSync(join(dataDir, 'installation'), 'utf8').trim()
  await removeInstallations(await connectEngine(dockerHost), [id])
  rmSync(dataDir, { recursive: true, force: true })
}
