import { pollUntil } from '@sandyard/kit/async/poll-until'
import type { SandboxEndpoint } from '@sandyard/runtime/types'

export interface Outcome {
  /** The exit code, or the signal's name; -1 when the program could not be started. */
  readonly code: number | string
  readonly stdout: string
  readonly stderr: string
}

/** The stand-in daemon of a sandbox. */
export class Inside {
  readonly #url: string

  constructor({ host, daemonPort }: SandboxEndpoint) {
    this.#url = `http://${host}:${daemonPort}`
  }

  /** Runs a shell command as root. */
  sh(command: string, timeoutMs?: number): Promise<Outcome> {
    return this.run(['/bin/sh', '-c', command], timeoutMs)
  }

  /** The command is killed after `timeoutMs`, by default 20 s. */
  async run(command: readonly string[], timeoutMs?: number): Promise<Outcome> {
    const answer = await this.#fetch('/run', { method: 'POST', body: JSON.stringify({ command, timeoutMs }) })
    return (await answer.json()) as Outcome
  }

  async environment(): Promise<Record<string, string>> {
    return (await (await this.#fetch('/env')).json()) as Record<string, string>
  }

  async instanceFile(): Promise<string> {
    const { SANDYARD_INSTANCE_FILE: path = '' } = await this.environment()
    return (await this.readFile(path)) ?? ''
  }

  async writeFile(path: string, text: string): Promise<void> {
    const { status } = await this.#fetch(`/file?path=${encodeURIComponent(path)}`, { method: 'PUT', body: text })
    if (status !== 204) throw new Error(`the file could not be written: ${status}`)
  }

  async readFile(path: string): Promise<string | undefined> {
    const answer = await this.#fetch(`/file?path=${encodeURIComponent(path)}`)
    return answer.status === 404 ? undefined : answer.text()
  }

  /** Returns `open`, `timeout`, or the code of the error. */
  async dial(host: string, port: number): Promise<string> {
    const answer = await this.#fetch('/dial', { method: 'POST', body: JSON.stringify({ host, port }) })
    return answer.text()
  }

  /** The results of the `STAND_IN_EARLY` dials so far. */
  async early(): Promise<string[]> {
    return (await (await this.#fetch('/early')).json()) as string[]
  }

  async isHealthy(): Promise<boolean> {
    return (await this.#fetch('/health')).status === 204
  }

  /** Keeps a text in the memory of the daemon. */
  async remember(text: string): Promise<void> {
    await this.#fetch('/memory', { method: 'PUT', body: text })
  }

  async recall(): Promise<string | undefined> {
    const answer = await this.#fetch('/memory')
    return answer.status === 404 ? undefined : answer.text()
  }

  /** Ends the container: the daemon is the only child of its init. */
  async end(): Promise<void> {
    await this.#fetch('/end', { method: 'POST' })
  }

  /** The daemon may still be booting. */
  #fetch(path: string, init?: RequestInit): Promise<Response> {
    return pollUntil({ what: 'the daemon', timeoutMs: 20_000, everyMs: 10 }, () => fetch(this.#url + path, init).catch(() => undefined))
  }
}
