import type { Secret } from '@sandyard/kit/config/secret'
import { Unreadable } from './unreadable.ts'
import { readOnce } from './read-once.ts'

/** Where the servers are, as this machine reaches them. */
export interface ServerAddresses {
  readonly apiUrl: string
  readonly sandboxUrl: string
  readonly metricsUrl: string
  readonly apiKey: Secret | undefined
}

export interface Answer {
  readonly status: number
  readonly text: string
  readonly headers: Headers
}

/** A line of a metrics page. */
export interface Sample {
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
}

const TIMEOUT_MS = 5000
const HEALTHY = 'Health check successful'

/** Asks the servers over HTTP. */
export class ServerReader {
  readonly addresses: ServerAddresses
  readonly metrics = readOnce(() => this.#metrics())
  /** Whether the control plane answers. */
  readonly isUp = readOnce(() => this.isOurs(this.addresses.apiUrl))

  constructor(addresses: ServerAddresses) {
    this.addresses = addresses
  }

  /** @throws Unreadable when there is no answer in time */
  async get(url: string, init: RequestInit = {}, timeoutMs = TIMEOUT_MS): Promise<Answer> {
    try {
      const response = await fetch(url, { ...init, redirect: 'manual', signal: AbortSignal.timeout(timeoutMs) })
      return { status: response.status, text: await response.text(), headers: response.headers }
    } catch (err) {
      const { code, message } = ((err as Error).cause ?? err) as NodeJS.ErrnoException
      throw new Unreadable(`${new URL(url).origin} does not answer (${code ?? message})`, { cause: err })
    }
  }

  /** Whether one of our servers answers there. All have the same health check; a server that drains answers it with 503. */
  async isOurs(url: string): Promise<boolean> {
    const answer = await this.get(`${url}/health`).catch(() => undefined)
    return answer !== undefined && (answer.text === HEALTHY || (answer.status === 503 && answer.text === 'Service is unavailable'))
  }

  /** @throws Unreadable when the control plane does not answer */
  async requireUp(): Promise<void> {
    if (!(await this.isUp())) throw new Unreadable(`no server answers at ${this.addresses.apiUrl}`)
  }

  async #metrics(): Promise<Sample[]> {
    const { status, text } = await this.get(`${this.addresses.metricsUrl}/metrics`)
    if (status !== 200) throw new Unreadable(`${this.addresses.metricsUrl}/metrics answers with ${status}`)
    return text.split('\n').flatMap(parseSample)
  }
}

function parseSample(line: string): Sample[] {
  const [, name, labels = '', value] = /^([a-z_:][\w:]*)(?:\{(.*)\})? ([^ ]+)/i.exec(line) ?? []
  if (name === undefined || value === undefined) return []
  const pairs = [...labels.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)].map(([, key = '', text = '']) => [key, text] as const)
  return [{ name, labels: Object.fromEntries(pairs), value: Number(value) }]
}
