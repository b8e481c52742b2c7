import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { pollUntil } from '@sandyard/kit/async/poll-until'
import { connectEngine } from '@sandyard/runtime-docker/engine/connect-engine'
import { removeInstallation } from '@sandyard/runtime-docker/remove-installation'

const MAIN = join(import.meta.dirname, '../src/main.ts')
const READY_TIMEOUT_MS = 240_000

/** The server as `npm start` runs it, in a process of its own, on free ports. */
export class RunningServer {
  readonly #child: ChildProcess
  #output = ''

  constructor(dataDir: string, environment: NodeJS.ProcessEnv) {
    const ports = { SANDYARD_API_PORT: '0', SANDYARD_PROXY_PORT: '0', SANDYARD_METRICS_PORT: '0' }
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

  /** Waits until the output has `text`; fails at once when the process ends before. */
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

  /** A setting from the `export` lines. */
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

  /** Sends the signal and waits for the end. */
  async end(signal: NodeJS.Signals): Promise<number | null> {
    if (this.#child.exitCode === null && this.#child.signalCode === null) {
      const ended = once(this.#child, 'exit')
      this.#child.kill(signal)
      await ended
    }
    return this.#child.exitCode
  }
}

/** Takes away all that a server of this data directory has on the engine, and the directory. */
export async function removeServer(dataDir: string, dockerHost: string | undefined): Promise<void> {
  const id = readFileSync(join(dataDir, 'installation'), 'utf8').trim()
  await removeInstallation(await connectEngine(dockerHost), id)
  rmSync(dataDir, { recursive: true, force: true })
}
