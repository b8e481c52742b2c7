import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, request, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { EngineReader } from '../../../src/doctor/facts/engine-reader.ts'

/** The answers of the engine have as many types as it has calls. */
type Patch = (answer: never) => unknown

/** The part of a create request that tests change. */
interface CreateWish {
  readonly HostConfig?: { readonly StorageOpt?: object }
}

interface Rule {
  readonly path: RegExp
  readonly patch: Patch
}

const ENGINE = '/var/run/docker.sock'
const VERSION = /^\/v[\d.]+/

/** A proxy of the real engine on a socket of its own. It changes the answers that a test chooses, and passes everything else on. */
export class PatchedEngine implements AsyncDisposable {
  readonly address: string
  readonly #folder = mkdtempSync(join(tmpdir(), 'sandyard-patched-'))
  readonly #server: Server
  #rules: Rule[] = []
  #present: RegExp[] = []
  #create: ((wanted: CreateWish) => CreateWish | undefined) | undefined
  #isSilent = false

  private constructor() {
    this.address = `unix://${this.#folder}/engine.sock`
    this.#server = createServer((question, answer) => void this.#pass(question, answer).catch(() => answer.destroy()))
  }

  static async open(): Promise<PatchedEngine> {
    const engine = new PatchedEngine()
    await new Promise<void>((resolve) => engine.#server.listen(engine.address.slice('unix://'.length), resolve))
    return engine
  }

  /** Changes the JSON of `GET` answers whose path, without the API's version and the query, matches. */
  patch(path: RegExp, patch: (answer: never) => unknown): void {
    this.#rules.push({ path, patch })
  }

  /** Answers with 200 where the real engine has an error. */
  answerOk(path: RegExp): void {
    this.#present.push(path)
  }

  /** Changes what the engine is asked to create; undefined refuses the create. */
  create(change: (wanted: CreateWish) => CreateWish | undefined): void {
    this.#create = change
  }

  /** Sets fields of `/info`. */
  info(change: object): void {
    this.patch(/^\/info$/, (answer: object) => ({ ...answer, ...change }))
  }

  /** From now on nothing is answered. */
  silence(): void {
    this.#isSilent = true
  }

  reset(): void {
    this.#rules = []
    this.#present = []
    this.#create = undefined
    this.#isSilent = false
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
    rmSync(this.#folder, { recursive: true, force: true })
  }

  async #pass(question: IncomingMessage, answer: ServerResponse): Promise<void> {
    if (this.#isSilent) return
    const { method, url: path = '', headers } = question
    const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>()
    const isCreate = this.#create !== undefined && method === 'POST' && path.includes('/containers/create')
    const wish = isCreate ? this.#create?.(JSON.parse(await text(question)) as CreateWish) : undefined
    if (isCreate && wish === undefined) return void answer.writeHead(500).end('{"message":"refused by the test"}')
    const body = wish && JSON.stringify(wish)
    const sent = body === undefined ? headers : { ...headers, 'content-length': String(Buffer.byteLength(body)) }
    const call = request({ socketPath: ENGINE, method, path, headers: sent }, resolve).on('error', reject)
    if (body === undefined) question.pipe(call)
    else call.end(body)
    const response = await promise
    const bare = path.replace(VERSION, '').split('?')[0] ?? ''
    const rules = method === 'GET' ? this.#rules.filter((rule) => rule.path.test(bare)) : []
    const { 'content-length': _length, 'transfer-encoding': _encoding, ...kept } = response.headers
    if (rules.length === 0) return void response.pipe(answer.writeHead(response.statusCode ?? 500, kept))
    const seen: unknown = JSON.parse(await text(response))
    const changed = rules.reduce<unknown>((value, { patch }) => patch(value as never), seen)
    const status = this.#present.some((present) => present.test(bare)) ? 200 : (response.statusCode ?? 500)
    answer.writeHead(status, kept).end(JSON.stringify(changed))
  }
}

/** The kernel of the engine's host. */
export async function kernelOf({ address }: PatchedEngine): Promise<string> {
  const { KernelVersion } = await new EngineReader(address).info()
  return KernelVersion
}
