import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { text } from 'node:stream/consumers'
import type { MessageInitShape } from '@bufbuild/protobuf'
import { connectNodeAdapter } from '@connectrpc/connect-node'
import { Process, type StartResponseSchema } from '@sandyard/daemon-protocol/process/process_pb'
import { Secret } from '@sandyard/kit/config/secret'
import type { ServerAddresses } from '../../../src/doctor/facts/server-reader.ts'

/** What a test can break. */
export type Fault =
  | 'create'
  | 'true'
  | 'write'
  | 'read'
  | 'port by header'
  | 'port by host'
  | 'kill'
  | 'large body'
  | 'buffered'
  | 'no upgrade'
  | 'cut'
  | 'other server'

const SANDBOX = 'istandin'
const HEALTHY = 'Health check successful'

/**
 * API, proxy and daemon of one sandbox in one HTTP server. The sandbox is a shell on this machine, so what doctor's scripts find inside of
 * it is real, and not confined.
 */
export class StandInServer implements AsyncDisposable {
  readonly faults = new Set<Fault>()
  /** The page of `/metrics`. */
  metrics = ''
  /** Replaces the results of scripts that contain a text. */
  readonly results = new Map<string, { readonly stdout: string; readonly exitCode: number }>()
  readonly killed: string[] = []
  readonly #server: Server
  #file = ''

  private constructor(slowMs: number) {
    const rpc = connectNodeAdapter({
      routes: (router) => router.service(Process, { start: (request) => this.#run(request.process?.args[1] ?? '') }),
    })
    this.#server = createServer((request, response) => {
      if (request.url?.startsWith('/process.Process/') === true) rpc(request, response)
      else void this.#answer(request, response, slowMs).catch(() => response.destroy())
    })
    this.#server.on('upgrade', (_request, socket) => {
      const head = 'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n'
      socket.end(this.faults.has('no upgrade') ? 'HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n' : head)
    })
  }

  static async open(slowMs = 50): Promise<StandInServer> {
    const server = new StandInServer(slowMs)
    server.#server.listen(0, '127.0.0.1')
    await once(server.#server, 'listening')
    return server
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`
  }

  get addresses(): ServerAddresses {
    return { apiUrl: this.url, sandboxUrl: this.url, metricsUrl: this.url, apiKey: new Secret('e2b_stand_in') }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
  }

  async #answer(request: IncomingMessage, response: ServerResponse, slowMs: number): Promise<void> {
    const { method = '', url = '', headers } = request
    const isByHeader = headers['e2b-sandbox-id'] !== undefined
    const isByHost = headers.host?.startsWith('8000-') === true
    const isUnknown = headers.host?.startsWith('49983-') === true
    if (isUnknown)
      return send(response, 502, this.faults.has('other server') ? '<html>' : '{"message":"The sandbox was not found","code":502}')
    if (url === '/health') return send(response, 200, this.faults.has('other server') ? '<html>' : HEALTHY)
    if (url === '/metrics') return send(response, 200, this.metrics)
    if (method === 'POST' && url === '/sandboxes') return this.#create(request, response)
    if (method === 'DELETE') {
      this.killed.push(url)
      return send(response, this.faults.has('kill') ? 500 : 204, '')
    }
    if (url.startsWith('/files')) return this.#serveFile(request, response)
    if (isByHeader) return send(response, 200, this.faults.has('port by header') ? 'down' : 'up')
    if (isByHost) return this.#serveSandbox(url, response, slowMs)
    return send(response, 404, '')
  }

  async #create(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const size = Number(request.headers['content-length'])
    if (size > 16 * 1024 ** 2) {
      const isFront = this.faults.has('large body')
      request.resume()
      await once(request, 'end')
      return send(response, 413, isFront ? '<html>413 Request Entity Too Large</html>' : '{"code":413,"message":"too large"}')
    }
    if (this.faults.has('create')) return send(response, 500, '{"code":500,"message":"broken"}')
    return send(response, 201, JSON.stringify({ sandboxID: SANDBOX, envdAccessToken: 'token' }))
  }

  async #serveFile(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (request.method === 'POST') {
      this.#file = await text(request)
      return send(response, this.faults.has('write') ? 507 : 200, '[]')
    }
    return send(response, 200, this.faults.has('read') ? 'something else' : this.#file)
  }

  async #serveSandbox(url: string, response: ServerResponse, slowMs: number): Promise<void> {
    if (this.faults.has('port by host')) return send(response, 502, '')
    if (url === '/slow') {
      if (this.faults.has('cut')) return void response.destroy()
      await delay(slowMs)
      return send(response, 200, 'slow')
    }
    if (url !== '/stream') return send(response, 200, 'up')
    // A front that buffers sends everything at the end.
    if (this.faults.has('buffered')) await delay(1200)
    response.writeHead(200).write('a')
    response.end('b')
  }

  async *#run(script: string): AsyncGenerator<MessageInitShape<typeof StartResponseSchema>> {
    yield { event: { event: { case: 'start', value: { pid: 1 } } } }
    const replaced = [...this.results].find(([part]) => script.includes(part))?.[1]
    const isTrue = script === 'true' && this.faults.has('true')
    // Its servers are played by this one.
    const result = replaced ?? (script.startsWith('nohup') ? { stdout: '', exitCode: 0 } : await runShell(script))
    yield { event: { event: { case: 'data', value: { output: { case: 'stdout', value: Buffer.from(result.stdout) } } } } }
    yield { event: { event: { case: 'end', value: { exitCode: isTrue ? 1 : result.exitCode, exited: true } } } }
  }
}

function send(response: ServerResponse, status: number, body: string): void {
  response.writeHead(status, { 'content-type': 'text/plain' }).end(body)
}

async function runShell(script: string): Promise<{ stdout: string; exitCode: number }> {
  const child = spawn('/bin/sh', ['-c', script], { stdio: ['ignore', 'pipe', 'ignore'] })
  const [stdout, [code]] = await Promise.all([text(child.stdout), once(child, 'close') as Promise<[number | null]>])
  return { stdout, exitCode: code ?? -1 }
}
