import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { request } from 'node:https'
import { connect, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pipeline, Readable, type Duplex } from 'node:stream'
import { createServer } from 'node:tls'
import { promisify } from 'node:util'

/** A TLS front of the sandboxes' address, as an operator has one: it ends TLS and passes the bytes on. */
export interface TlsFront extends AsyncDisposable {
  readonly port: number
  /** Like the global one, for URLs with a name of a sandbox: the connection goes to this front, and its certificate is checked. */
  readonly fetch: (url: string | URL, init?: RequestInit) => Promise<Response>
}

const run = promisify(execFile)

/** Answers that have no body. */
const EMPTY: ReadonlySet<number> = new Set([204, 205, 304])

/**
 * Listens on a free port of the loopback address, with a certificate of its own for names below `localhost`, which no client trusts by itself.
 *
 * @param target the address of the sandboxes, in plain HTTP
 */
export async function startTlsFront(target: string): Promise<TlsFront> {
  const upstream = new URL(target)
  const certificate = await makeCertificate()
  const clients = new Set<Duplex>()
  const server = createServer(certificate, (client) => {
    clients.add(client)
    client.once('close', () => clients.delete(client))
    pipeline(client, connect(Number(upstream.port), upstream.hostname), client, () => undefined)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    port,
    fetch: (url, init) => fetchOverTls(new URL(url), { port, ca: certificate.cert }, init),
    async [Symbol.asyncDispose]() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()))
      // After a failed expectation a page is still connected.
      for (const client of clients) client.destroy()
      await closed
    },
  }
}

async function fetchOverTls(url: URL, front: { port: number; ca: string }, init: RequestInit = {}): Promise<Response> {
  const { promise, resolve, reject } = Promise.withResolvers<Response>()
  const outgoing = request({
    ...front,
    host: '127.0.0.1',
    servername: url.hostname,
    // Node accepts no certificate for all names below a name of one label.
    checkServerIdentity: () => undefined,
    method: init.method ?? 'GET',
    path: `${url.pathname}${url.search}`,
    headers: { ...Object.fromEntries(new Headers(init.headers)), host: url.host },
    ...(init.signal instanceof AbortSignal && { signal: init.signal }),
  })
  outgoing.once('error', reject)
  outgoing.once('response', (incoming) => {
    const { statusCode = 0, rawHeaders } = incoming
    const headers = new Headers()
    for (let at = 0; at < rawHeaders.length; at += 2) headers.append(rawHeaders[at] ?? '', rawHeaders[at + 1] ?? '')
    resolve(new Response(EMPTY.has(statusCode) ? null : (Readable.toWeb(incoming) as ReadableStream), { status: statusCode, headers }))
  })
  outgoing.end(init.body as string | undefined)
  return await promise
}

async function makeCertificate(): Promise<{ key: string; cert: string }> {
  const folder = await mkdtemp(join(tmpdir(), 'sandyard-tls-front-'))
  try {
    const kind = 'req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=localhost'
    await run('openssl', [...kind.split(' '), '-addext', 'subjectAltName=DNS:*.localhost', '-keyout', 'key.pem', '-out', 'cert.pem'], {
      cwd: folder,
    })
    const [key, cert] = await Promise.all(['key.pem', 'cert.pem'].map((name) => readFile(join(folder, name), 'utf8')))
    return { key: key ?? '', cert: cert ?? '' }
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
