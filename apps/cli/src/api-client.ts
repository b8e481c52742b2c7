import { OPERATIONS, type OperationId } from '@sandyard/api-contract/operations'
import type { Operation } from '@sandyard/api-contract/operation'
import { requireAdminToken, requireApiKey, type Connection } from './connection.ts'
import { EXIT, type ExitCode } from './exit-codes.ts'
import { CliFailure } from './fail.ts'

export interface ApiCall {
  /** The values of the path's parameters. */
  readonly path?: Readonly<Record<string, string>>
  readonly query?: Readonly<Record<string, string | number | undefined>>
  readonly body?: unknown
  /** Default: 60 s. */
  readonly timeoutMs?: number
}

export interface ApiAnswer<T> {
  readonly body: T
  readonly headers: Headers
}

/** The answer of the server to a call that it refused. */
export class ApiRefusal extends CliFailure {
  readonly status: number

  constructor(exitCode: ExitCode, message: string, status: number) {
    super(exitCode, message)
    this.status = status
  }
}

type ApiConnection = Pick<Connection, 'apiUrl' | 'apiKey' | 'isKeyGiven' | 'directory'> & Partial<Pick<Connection, 'adminToken'>>

const TIMEOUT_MS = 60_000
const MAX_PAGES = 1000

/** Calls operations of the control plane by their ids. */
export class ApiClient {
  readonly #connection: ApiConnection
  readonly #signal: AbortSignal

  constructor(connection: ApiConnection, signal: AbortSignal) {
    this.#connection = connection
    this.#signal = signal
  }

  /** @throws CliFailure that says what the server answered, or that it does not answer */
  async call<T>(id: OperationId, call: ApiCall = {}): Promise<T> {
    return (await this.#send<T>(id, call)).body
  }

  /** All items of a list operation with pages. */
  async listAll<T>(id: OperationId, query: ApiCall['query'] = {}): Promise<T[]> {
    const items: T[] = []
    let nextToken: string | undefined
    for (let pages = 0; pages < MAX_PAGES; pages += 1) {
      const { body, headers } = await this.#send<T[]>(id, { query: { ...query, nextToken } })
      items.push(...body)
      nextToken = headers.get('x-next-token') ?? undefined
      if (nextToken === undefined) return items
    }
    throw new CliFailure(EXIT.failed, `The list has more than ${MAX_PAGES} pages.`)
  }

  /** A path without an operation of the contract, such as `/ready`, without credentials; any status. */
  async get(path: string, timeoutMs = TIMEOUT_MS): Promise<{ readonly status: number; readonly body: unknown; readonly headers: Headers }> {
    const response = await this.#fetch(`${this.#connection.apiUrl}${path}`, { method: 'GET' }, timeoutMs)
    return { status: response.status, body: await bodyOf(response), headers: response.headers }
  }

  async #send<T>(id: OperationId, { path = {}, query = {}, body, timeoutMs = TIMEOUT_MS }: ApiCall): Promise<ApiAnswer<T>> {
    const operation: Operation | undefined = OPERATIONS.find((candidate) => candidate.id === id)
    if (operation === undefined) throw new Error(`no operation ${id}`)
    const url = new URL(`${this.#connection.apiUrl}${fill(operation.path, path)}`)
    for (const [name, value] of Object.entries(query)) if (value !== undefined) url.searchParams.set(name, String(value))
    const headers = this.#credentialOf(operation)
    if (body !== undefined) headers['content-type'] = 'application/json'
    const request: RequestInit = { method: operation.method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) }
    const response = await this.#fetch(url.href, request, timeoutMs)
    const answer = await bodyOf(response)
    if (!response.ok) throw this.#refusal(operation, response.status, answer)
    return { body: answer as T, headers: response.headers }
  }

  #credentialOf({ auth }: Operation): Record<string, string> {
    return auth === 'A'
      ? { 'x-admin-token': requireAdminToken(this.#connection).reveal() }
      : { 'x-api-key': requireApiKey(this.#connection).reveal() }
  }

  #refusal({ auth }: Operation, status: number, body: unknown): ApiRefusal {
    const { apiUrl, isKeyGiven, directory } = this.#connection
    if (status === 401 && auth === 'A') {
      return new ApiRefusal(EXIT.refused, `The server at ${apiUrl} refuses the token of SANDYARD_ADMIN_TOKEN.`, status)
    }
    if (status === 401) {
      const source = isKeyGiven ? 'E2B_API_KEY' : (directory?.credentialsFile ?? 'no file')
      return new ApiRefusal(EXIT.refused, `The server at ${apiUrl} refuses the API key of ${source}.`, status)
    }
    const told = (body as { message?: unknown } | undefined)?.message
    const message = typeof told === 'string' && told !== '' ? told : `The server answered with status ${status}`
    return new ApiRefusal(exitCodeOfStatus(status), `${message.replace(/\.$/, '')}.`, status)
  }

  async #fetch(url: string, request: RequestInit, timeoutMs: number): Promise<Response> {
    const late = AbortSignal.timeout(timeoutMs)
    try {
      return await fetch(url, { ...request, signal: AbortSignal.any([this.#signal, late]) })
    } catch (cause) {
      this.#signal.throwIfAborted()
      const { origin } = new URL(url)
      if (late.aborted)
        throw new CliFailure(EXIT.timeout, `The server at ${origin} did not answer within ${timeoutMs / 1000} s.`, { cause })
      throw new CliFailure(
        EXIT.notReachable,
        `The server at ${origin} is not reachable (${reasonOf(cause)}): is it running, and is E2B_API_URL right?`,
        { cause },
      )
    }
  }
}

function fill(path: string, values: Readonly<Record<string, string>>): string {
  return path.replaceAll(/\{(\w+)\}/g, (_match, name: string) => encodeURIComponent(values[name] ?? ''))
}

async function bodyOf(response: Response): Promise<unknown> {
  const text = await response.text()
  try {
    return text === '' ? undefined : JSON.parse(text)
  } catch {
    return text
  }
}

function exitCodeOfStatus(status: number): ExitCode {
  if (status === 401 || status === 403) return EXIT.refused
  if (status === 404) return EXIT.notFound
  if (status === 408 || status === 504) return EXIT.timeout
  if (status === 502 || status === 503) return EXIT.notReachable
  return EXIT.failed
}

function reasonOf(error: unknown): string {
  const cause = (error as { cause?: unknown }).cause ?? error
  const { code, message } = cause as NodeJS.ErrnoException
  return code ?? message
}
