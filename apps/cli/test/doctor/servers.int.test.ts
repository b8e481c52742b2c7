import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { createServer as createTlsServer } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import { findFreePort } from '@sandyard/kit/net/free-port'
import { find, saying } from './support/find.ts'
import { ProcRoot } from './support/proc-root.ts'
import { StandInServer, type Fault } from './support/stand-in-server.ts'

const folder = mkdtempSync(join(tmpdir(), 'sandyard-doctor-tls-'))
const server = await StandInServer.open()
const here = { lookUp: () => Promise.resolve(['127.0.0.1']) }

beforeEach(() => {
  server.faults.clear()
  server.results.clear()
})
afterAll(async () => {
  await server[Symbol.asyncDispose]()
  rmSync(folder, { recursive: true })
})

/** A domain of the operator behind a front without TLS. */
const OWN_DOMAIN = { SANDYARD_DOMAIN: `sandboxes.test:${server.port}`, SANDYARD_API_URL: `http://api.test:${server.port}` }

describe('N1', () => {
  const ports = async (): Promise<Record<string, string>> => ({
    SANDYARD_API_PORT: String(await findFreePort()),
    SANDYARD_METRICS_PORT: '0',
    SANDYARD_PROXY_PORT: '0',
    SANDYARD_EGRESS_HEALTH_PORT: '0',
  })

  it('is ok for a free port and for one of ours', async () => {
    expect(await find('N1', { environment: await ports() })).toMatchObject({
      level: 'ok',
      found: saying('free (API)'),
    })
    const environment = { ...(await ports()), SANDYARD_API_PORT: String(server.port) }
    expect(await find('N1', { environment })).toMatchObject({ level: 'ok', found: saying('ours (API)') })
  })

  it('fails for a port of another program, and names it', async () => {
    await using other = await listen()
    const environment = { ...(await ports()), SANDYARD_API_PORT: String(other.port) }
    expect(await find('N1', { environment })).toMatchObject({
      level: 'fail',
      found: saying(new RegExp(`port ${other.port} \\(API\\) is held by process ${process.pid} `)),
      todo: saying('SANDYARD_API_PORT'),
    })
  })

  it('fails for an address that is not of this machine', async () => {
    const environment = { ...(await ports()), SANDYARD_BIND: '192.0.2.1' }
    expect(await find('N1', { environment })).toMatchObject({ level: 'fail', found: saying('EADDRNOTAVAIL') })
  })
})

describe('N5', () => {
  const look = (machine = here, environment: Record<string, string> = OWN_DOMAIN): ReturnType<typeof find> =>
    find('N5', { addresses: server.addresses, machine, environment })
  const only = (...known: readonly string[]): typeof here => ({
    lookUp: ((name: string) => Promise.resolve(known.some((part) => name.endsWith(part)) ? ['127.0.0.1'] : [])) as typeof here.lookUp,
  })

  it('is ok when every name reaches our servers', async () => {
    expect(await look()).toMatchObject({ level: 'ok', found: saying('reaches the proxy') })
  })

  it('fails without the wildcard record, and without a record of the API', async () => {
    expect(await look(only('api.test', 'localhost'))).toMatchObject({ level: 'fail', found: saying('wildcard') })
    expect(await look(only('.sandboxes.test', 'localhost'))).toMatchObject({
      level: 'fail',
      found: saying('api.test'),
    })
  })

  it('fails when the names lead to another server', async () => {
    server.faults.add('other server')
    await using ours = await StandInServer.open()
    const { level, found } = await find('N5', { addresses: ours.addresses, machine: here, environment: OWN_DOMAIN })
    expect([level, found]).toEqual(['fail', expect.stringMatching(/sandboxes\.test.* another server.*; .*api\.test.* another server/)])
  })

  it('warns when x.localhost does not resolve', async () => {
    expect(await look(only('nothing'), {})).toMatchObject({ level: 'warn', found: saying('x.localhost') })
    expect(await look(only('x.localhost'), {})).toMatchObject({ level: 'ok' })
  })
})

describe('T1', () => {
  const authority = makeAuthority()

  async function withCertificate(days: number, names: string): Promise<Awaited<ReturnType<typeof find>>> {
    const certificate = issue(days, names)
    const tls = createTlsServer({ key: certificate.key, cert: certificate.cert }, (_request, response) => response.end())
    tls.listen(0, '127.0.0.1')
    await once(tls, 'listening')
    const { port } = tls.address() as AddressInfo
    const environment = { SANDYARD_API_URL: `https://api.test:${port}`, SANDYARD_DOMAIN: `sandboxes.test:${port}` }
    try {
      return await find('T1', { environment: { ...environment, SANDYARD_EXTRA_CA: authority }, machine: here })
    } finally {
      tls.closeAllConnections()
      tls.close()
    }
  }

  const BOTH = 'DNS:api.test,DNS:*.sandboxes.test'

  it.each([
    ['ok', 60, BOTH, /api\.test: 59 days left, \*\.sandboxes\.test: 59 days left/],
    ['warn', 20, BOTH, /19 days left/],
    ['fail', 2, BOTH, /1 days left/],
    ['fail', 60, 'DNS:api.test', /certificate of \*\.sandboxes\.test is for other names/],
  ] as const)('is %s for %i days and the names %s', async (level, days, names, found) => {
    expect(await withCertificate(days, names)).toMatchObject({ level, found: saying(found) })
  })

  it('fails for a chain that is not trusted, and for a port without TLS', async () => {
    const certificate = issue(60, BOTH)
    const tls = createTlsServer({ key: certificate.key, cert: certificate.cert }, (_request, response) => response.end())
    tls.listen(0, '127.0.0.1')
    await once(tls, 'listening')
    const environment = { SANDYARD_API_URL: `https://api.test:${(tls.address() as AddressInfo).port}` }
    expect(await find('T1', { environment, machine: here })).toMatchObject({
      level: 'fail',
      found: saying('not trusted'),
    })
    tls.close()
    const plain = { SANDYARD_API_URL: `https://api.test:${server.port}` }
    expect(await find('T1', { environment: plain, machine: here })).toMatchObject({
      level: 'fail',
      found: saying('TLS'),
    })
  })

  it('is skipped without a public URL', async () => {
    expect(await find('T1')).toMatchObject({ level: 'skipped' })
  })

  /** The file of its certificate. */
  function makeAuthority(): string {
    openssl('req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 3650 -subj /CN=test -keyout ca.key -out ca.pem')
    return join(folder, 'ca.pem')
  }

  function issue(days: number, names: string): { key: string; cert: string } {
    openssl('req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=leaf -keyout leaf.key -out leaf.csr')
    execFileSync('sh', ['-c', `printf 'subjectAltName=${names}\\n' > names.cnf`], { cwd: folder })
    openssl(`x509 -req -in leaf.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days ${days} -extfile names.cnf -out leaf.pem`)
    return { key: readFileSync(join(folder, 'leaf.key'), 'utf8'), cert: readFileSync(join(folder, 'leaf.pem'), 'utf8') }
  }

  function openssl(line: string): void {
    execFileSync('openssl', line.split(' '), { cwd: folder, stdio: 'ignore' })
  }
})

describe('T2', () => {
  const look = (): ReturnType<typeof find> =>
    find('T2', { addresses: server.addresses, machine: here, environment: OWN_DOMAIN, isDeep: true, slowAnswerMs: 50 })

  it('is ok when a front passes everything on', async () => {
    expect(await look()).toEqual({ level: 'ok', found: 'a large body is refused by us, streams pass, upgrades pass, slow answers pass' })
  })

  it.each([
    ['large body', /refused by the server in front \(413\)/],
    ['buffered', /buffered/],
    ['no upgrade', /upgrade/],
    ['cut', /is cut/],
  ] as const)('fails for a front with the fault "%s"', async (fault: Fault, found) => {
    server.faults.add(fault)
    expect(await look()).toMatchObject({ level: 'fail', found: saying(found) })
  })

  it('is skipped without a public URL', async () => {
    expect(await find('T2')).toMatchObject({ level: 'skipped' })
  })
})

describe('T3', () => {
  it.each([
    ['warn', 'https://api.example.com', 'sandboxes.example.com'],
    ['warn', 'https://api.example.co.uk', 'example.co.uk'],
    ['ok', 'https://api.one.co.uk', 'two.co.uk'],
    ['ok', 'https://api.example.com', 'example-sandboxes.com:8443'],
  ])('is %s for %s and *.%s', async (level, SANDYARD_API_URL, SANDYARD_DOMAIN) => {
    expect(await find('T3', { environment: { SANDYARD_API_URL, SANDYARD_DOMAIN } })).toMatchObject({ level })
  })

  it('is skipped without both names', async () => {
    expect(await find('T3')).toMatchObject({ level: 'skipped' })
  })
})

describe('R5', () => {
  const look = (): ReturnType<typeof find> => find('R5', { addresses: server.addresses, isDeep: true })

  it('makes every step, tells its time, and kills the sandbox', async () => {
    const { level, found } = await look()
    expect(level).toBe('ok')
    expect(found.replaceAll(/\d+/g, 'N')).toBe(
      'create N ms, true N ms, write N ms, read N ms, port by header N ms, port by host N ms, kill N ms',
    )
    expect(server.killed).toContain('/sandboxes/istandin')
  })

  it.each(['create', 'true', 'write', 'read', 'kill'] as const)('fails at the step "%s"', async (fault) => {
    server.faults.add(fault)
    expect(await look()).toMatchObject({ level: 'fail', found: saying(new RegExp(`^${fault}: `)) })
  })

  it('is skipped without --deep, a server or a key', async () => {
    expect(await find('R5', { addresses: server.addresses })).toMatchObject({
      level: 'skipped',
      found: saying('--deep'),
    })
    expect(await find('R5', { isDeep: true })).toMatchObject({ level: 'skipped', found: saying('no server') })
    const addresses = { ...server.addresses, apiKey: undefined }
    expect(await find('R5', { addresses, isDeep: true })).toMatchObject({
      level: 'skipped',
      found: saying('key'),
    })
  })
})

describe('N6', () => {
  const look = async (control: boolean): ReturnType<typeof find> => {
    using root = new ProcRoot()
    const environment = { SANDYARD_DEBIAN_MIRROR: server.url, DATABASE_URL: 'postgres://127.0.0.1:9/x' }
    const machine = { dial: (host: string) => Promise.resolve(control && host === '127.0.0.1') }
    return find('N6', { root: root.path, addresses: server.addresses, isDeep: true, environment, machine })
  }

  it('fails when a sandbox reaches the host', async () => {
    // The shell of the stand-in is on the host, and reaches it.
    expect(await look(true)).toMatchObject({ level: 'fail', found: expect.stringMatching(/^a sandbox reaches .*the host \(/) as string })
  })

  it('is ok when only the control is reached', async () => {
    closeAllDoors()
    expect(await look(true)).toMatchObject({ level: 'ok', found: saying(`127.0.0.1:${server.port} is reached`) })
  })

  it('is skipped without a control, since a sandbox without any network would pass', async () => {
    closeAllDoors()
    expect(await look(false)).toMatchObject({ level: 'skipped', found: saying('allow control') })
  })

  it('fails when the control is not reached', async () => {
    closeAllDoors()
    server.results.set(`/dev/tcp/127.0.0.1/${server.port}`, { stdout: '', exitCode: 124 })
    expect(await look(true)).toMatchObject({ level: 'fail', found: saying('does not reach the control') })
  })

  /** The rules of a real sandbox. */
  function closeAllDoors(): void {
    server.results.set(`/dev/tcp/127.0.0.1/${server.port}`, { stdout: '', exitCode: 0 })
    server.results.set('/dev/tcp/', { stdout: '', exitCode: 124 })
  }
})

describe('doctor and a server that does not answer', () => {
  it('skips what needs it', async () => {
    await using other = await listen()
    const addresses = { ...server.addresses, apiUrl: `http://127.0.0.1:${other.port}` }
    expect(await find('T2', { addresses, machine: here, environment: OWN_DOMAIN })).toMatchObject({ level: 'skipped' })
  })
})

/** Another program, which closes every connection. */
async function listen(): Promise<AsyncDisposable & { readonly port: number }> {
  const server = createServer((socket) => socket.destroy())
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    [Symbol.asyncDispose]: () => new Promise((resolve) => server.close(() => resolve())),
  }
}
