import type { Agent } from 'node:http'
import { createClient } from '@connectrpc/connect'
import { Process } from '@sandyard/daemon-protocol/process/process_pb'
import { agentFor, DAEMON_PORT, transportTo } from '../../daemon/open-daemon.ts'
import type { Answer, ServerReader } from './server-reader.ts'
import { Unreadable } from './unreadable.ts'

export interface RunResult {
  readonly exitCode: number
  readonly stdout: string
  readonly stderr: string
}

interface CreatedSandbox {
  readonly sandboxID: string
  readonly envdAccessToken?: string | null
  readonly domain?: string | null
}

const CREATE_TIMEOUT_MS = 90_000
const RUN_TIMEOUT_MS = 30_000
/** It ends by itself if this program is killed. */
const LIFETIME_SECONDS = 300

/** A sandbox of the template `base`, made through the API like that of any client. Disposing kills it. */
export class ThrowAwaySandbox implements AsyncDisposable {
  readonly id: string
  /** Of its URLs, as the server says; undefined when it does not. */
  readonly domain: string | undefined
  readonly #servers: ServerReader
  readonly #token: string | undefined
  readonly #agent: Agent

  private constructor(servers: ServerReader, { sandboxID, envdAccessToken, domain }: CreatedSandbox) {
    this.#servers = servers
    this.#agent = agentFor(servers.addresses.sandboxUrl)
    this.id = sandboxID
    this.domain = domain ?? undefined
    this.#token = envdAccessToken ?? undefined
  }

  /** @throws Unreadable without an API key, or when the server refuses it */
  static async create(servers: ServerReader): Promise<ThrowAwaySandbox> {
    await servers.requireUp()
    const body = JSON.stringify({ templateID: 'base', timeout: LIFETIME_SECONDS, metadata: { madeBy: 'sandyard doctor' } })
    const answer = await servers.get(
      `${servers.addresses.apiUrl}/sandboxes`,
      { method: 'POST', headers: { ...apiHeaders(servers), 'content-type': 'application/json' }, body },
      CREATE_TIMEOUT_MS,
    )
    if (answer.status !== 201) throw new Unreadable(`no sandbox could be created: ${answer.status} ${answer.text.slice(0, 200)}`)
    return new ThrowAwaySandbox(servers, JSON.parse(answer.text) as CreatedSandbox)
  }

  /** Runs a shell script as root. @throws Unreadable when the daemon does not run it */
  async run(script: string, timeoutMs = RUN_TIMEOUT_MS): Promise<RunResult> {
    const bytes: { stdout: Uint8Array[]; stderr: Uint8Array[] } = { stdout: [], stderr: [] }
    const text = (name: 'stdout' | 'stderr'): string => Buffer.concat(bytes[name]).toString('utf8')
    try {
      const transport = transportTo(this.#servers.addresses.sandboxUrl, this.#headers(DAEMON_PORT, 'root'), this.#agent)
      const events = createClient(Process, transport).start(
        { process: { cmd: '/bin/sh', args: ['-c', script], envs: {} }, stdin: false },
        { timeoutMs, signal: AbortSignal.timeout(timeoutMs) },
      )
      for await (const { event } of events) {
        const told = event?.event
        if (told?.case === 'data' && (told.value.output.case === 'stdout' || told.value.output.case === 'stderr')) {
          bytes[told.value.output.case].push(told.value.output.value)
        }
        if (told?.case === 'end') return { exitCode: told.value.exitCode, stdout: text('stdout'), stderr: text('stderr') }
      }
    } catch (err) {
      throw new Unreadable(`the throw-away sandbox did not run a command: ${(err as Error).message}`, { cause: err })
    }
    throw new Unreadable('the throw-away sandbox ended a command without its exit code')
  }

  /** A file of the sandbox through the daemon, as the SDKs read and write it. */
  file(path: string, init: RequestInit = {}): Promise<Answer> {
    const query = new URLSearchParams({ path, username: 'root' })
    const headers = { ...this.#headers(DAEMON_PORT), ...(init.headers as Record<string, string> | undefined) }
    return this.#servers.get(`${this.#servers.addresses.sandboxUrl}/files?${query.toString()}`, { ...init, headers })
  }

  /** A port of the sandbox by the headers that name it. */
  portByHeader(port: number, path = '/'): Promise<Answer> {
    return this.#servers.get(`${this.#servers.addresses.sandboxUrl}${path}`, { headers: this.#headers(port) })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#agent.destroy()
    await this.kill().catch(() => undefined)
  }

  /** The status of the answer. */
  async kill(): Promise<number> {
    const { apiUrl } = this.#servers.addresses
    return (
      await this.#servers.get(`${apiUrl}/sandboxes/${this.id}`, { method: 'DELETE', headers: apiHeaders(this.#servers) }, CREATE_TIMEOUT_MS)
    ).status
  }

  #headers(port: number, user?: string): Record<string, string> {
    return {
      'e2b-sandbox-id': this.id,
      'e2b-sandbox-port': String(port),
      ...(this.#token !== undefined && { 'x-access-token': this.#token }),
      ...(user !== undefined && { authorization: `Basic ${Buffer.from(`${user}:`).toString('base64')}` }),
    }
  }
}

function apiHeaders({ addresses }: ServerReader): Record<string, string> {
  if (addresses.apiKey === undefined) throw new Unreadable('there is no API key here: set E2B_API_KEY or SANDYARD_DATA_DIR')
  return { 'x-api-key': addresses.apiKey.reveal() }
}
