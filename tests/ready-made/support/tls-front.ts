import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { connect, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pipeline } from 'node:stream'
import { createServer } from 'node:tls'
import { promisify } from 'node:util'

/** A TLS front of the sandboxes' address, as an operator has one: it ends TLS and passes the bytes on. */
export interface TlsFront extends AsyncDisposable {
  readonly port: number
}

const run = promisify(execFile)

/**
 * Listens on a free port of the loopback address, with a certificate of its own for names below `localhost`, which no client trusts by itself.
 *
 * @param target the address of the sandboxes, in plain HTTP
 */
export async function startTlsFront(target: string): Promise<TlsFront> {
  const { hostname, port } = new URL(target)
  const server = createServer(await makeCertificate(), (client) => {
    pipeline(client, connect(Number(port), hostname), client, () => undefined)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    port: (server.address() as AddressInfo).port,
    [Symbol.asyncDispose]: () => new Promise((resolve) => server.close(() => resolve())),
  }
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
