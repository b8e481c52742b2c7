import { mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Sandbox, Secret, type SandboxOpts } from 'e2b'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { EngineBench } from '../../../packages/runtime-docker/test/support/engine-bench.ts'
import { OUTSIDE, OutsideWorld } from '../../../packages/runtime-docker/test/support/outside-world.ts'
import { ensureToolImage } from '../../../packages/runtime-docker/test/support/test-images.ts'
import { removeServer, RunningServer } from './running-server.ts'
import { PLAIN_PORT, SOCKS_PORT, startOutsideServers } from './outside-servers.ts'

type Network = NonNullable<SandboxOpts['network']>

const ALL = '0.0.0.0/0'
const [ALLOWED, WILD, OTHER, KEYED] = ['allowed.example.org', 'a.b.wild.example.org', 'other.example.org', 'api.example.org']
/** Dialled instead of the right address: nobody has it. */
const WRONG_ADDRESS = '203.0.113.9'
const SECRET = 'a secret that the sandbox never has'

/** All names resolve to the outside machine. The first names that a sandbox may use, and what it may not, are real servers there. */
describe('the egress gateway', { timeout: 240_000 }, () => {
  const stack = new AsyncDisposableStack()
  let server: RunningServer

  beforeAll(async () => {
    const bench = stack.use(await EngineBench.open())
    const toolImage = await ensureToolImage(bench.docker)
    await bench.runtime()
    stack.use(await OutsideWorld.open({ docker: bench.docker, toolImage, volume: bench.volume }))
    const dataDir = await mkdtemp(join(tmpdir(), 'standalone-gateway-'))
    const authority = join(dataDir, 'authority.pem')
    await writeFile(authority, await startOutsideServers([ALLOWED, WILD, OTHER, KEYED]))
    const settings = { SANDYARD_RESOLVERS: OUTSIDE.resolver, NODE_EXTRA_CA_CERTS: authority }
    server = new RunningServer(dataDir, { ...process.env, ...settings })
    stack.defer(async () => {
      await server.end('SIGTERM')
      await removeServer(dataDir, process.env['DOCKER_HOST'])
    })
    await server.ready()
  })
  afterAll(() => stack.disposeAsync())

  async function withNetwork(network: Network, work: (sandbox: Sandbox) => Promise<void>): Promise<void> {
    const sandbox = await Sandbox.create({ ...connection(), network })
    try {
      await work(sandbox)
    } finally {
      await sandbox.kill()
    }
  }

  /** The output of curl, or `exit N`. */
  async function curl(sandbox: Sandbox, args: string): Promise<string> {
    const { stdout } = await sandbox.commands.run(`curl --silent --max-time 10 ${args} || echo "exit $?"`)
    return stdout.trim()
  }

  const told = (host: string, key: string | null = null): unknown => ({ method: 'GET', url: '/', host, key })
  const WITH_WRONG_ADDRESS = (name: string, port = 443): string => `--resolve ${name}:${port}:${WRONG_ADDRESS}`

  test('control: without a policy every name, address and port is open', async () => {
    await withNetwork({}, async (sandbox) => {
      for (const name of [ALLOWED, WILD, OTHER, KEYED])
        expect(JSON.parse(await curl(sandbox, `--insecure https://${name}/`))).toEqual(told(name))
      expect(JSON.parse(await curl(sandbox, `http://${OUTSIDE.public}/`))).toEqual(told(OUTSIDE.public))
      expect(await curl(sandbox, `telnet://${OUTSIDE.public}:${PLAIN_PORT} < /dev/null`)).toBe('plain')
    })
  })

  test('allowed domains are served, looked up by the gateway, and nothing else is', async () => {
    await withNetwork({ allowOut: [ALLOWED, '*.wild.example.org'], denyOut: [ALL] }, async (sandbox) => {
      for (const name of [ALLOWED, WILD]) {
        expect(JSON.parse(await curl(sandbox, `--insecure https://${name}/`))).toEqual(told(name))
        expect(JSON.parse(await curl(sandbox, `http://${name}/`))).toEqual(told(name))
        // What the sandbox believes of addresses does not count.
        expect(JSON.parse(await curl(sandbox, `--insecure ${WITH_WRONG_ADDRESS(name)} https://${name}/`))).toEqual(told(name))
      }
      expect(JSON.parse(await curl(sandbox, `--insecure https://${ALLOWED.toUpperCase()}/`))).toMatchObject({ method: 'GET' })
      const refused: [string, string][] = [
        ['another name', `--insecure https://${OTHER}/`],
        ['another name at the right address', `--insecure --resolve ${OTHER}:443:${OUTSIDE.public} https://${OTHER}/`],
        ['another name over HTTP', `--resolve ${OTHER}:80:${OUTSIDE.public} http://${OTHER}/`],
        ['the parent of a wildcard', `--insecure --resolve wild.example.org:443:${OUTSIDE.public} https://wild.example.org/`],
        ['a name that ends like an allowed one', `--insecure --resolve evil${ALLOWED}:443:${OUTSIDE.public} https://evil${ALLOWED}/`],
        ['a bare address', `--insecure https://${OUTSIDE.public}/`],
        ['a bare address over HTTP', `http://${OUTSIDE.public}/`],
        ['another port', `--resolve ${ALLOWED}:${PLAIN_PORT}:${OUTSIDE.public} telnet://${ALLOWED}:${PLAIN_PORT} < /dev/null`],
      ]
      for (const [what, args] of refused) expect(await curl(sandbox, args), what).toMatch(/^exit \d+$/)
      for (const own of [18_443, 18_053]) {
        const dialled = `"telnet://$(ip route show default | cut -d' ' -f3):${own}" < /dev/null`
        expect(await curl(sandbox, dialled), "the gateway's own port").toBe('exit 7')
      }
      const second = `--insecure --http1.1 https://${ALLOWED}/ --next --silent --max-time 10 --http1.1 --header "Host: ${OTHER}" http://${ALLOWED}/`
      expect(await curl(sandbox, second), 'another Host over HTTP').not.toContain(`"${OTHER}"`)
    })
  })

  test('names are looked up through a filter, whichever resolver is asked', async () => {
    await withNetwork({ allowOut: [ALLOWED], denyOut: [ALL] }, async (sandbox) => {
      const lookUp = async (name: string): Promise<string> =>
        (await sandbox.commands.run(`getent ahostsv4 ${name} | head -1 | cut -d" " -f1`)).stdout.trim()
      expect(await lookUp(ALLOWED)).toBe(OUTSIDE.public)
      expect(await lookUp(OTHER)).toBe('')
      expect(await lookUp(`stolen-data.${OTHER}`)).toBe('')
      const direct = await sandbox.commands.run(`python3 - <<'END'
import socket
question = b'\\x00\\x01\\x01\\x00\\x00\\x01\\x00\\x00\\x00\\x00\\x00\\x00' + b''.join(bytes([len(l)]) + l.encode() for l in '${OTHER}'.split('.')) + b'\\x00\\x00\\x01\\x00\\x01'
for server in ('${OUTSIDE.resolver}', '203.0.113.53'):
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.settimeout(5); s.sendto(question, (server, 53))
    print(s.recv(512)[3] & 15)
END`)
      // 5 is REFUSED.
      expect(direct.stdout).toBe('5\n5\n')
    })
  })

  test('a changed policy ends the connection that it refuses', async () => {
    await withNetwork({ allowOut: [ALLOWED], denyOut: [ALL] }, async (sandbox) => {
      const held = sandbox.commands.run(`python3 - <<'END'
import socket, ssl
s = ssl._create_unverified_context().wrap_socket(socket.create_connection(('${ALLOWED}', 443)), server_hostname='${ALLOWED}')
open('/tmp/held', 'w').close(); s.settimeout(30)
try: print('read', s.recv(10))
except OSError as error: print(type(error).__name__)
END`)
      await vi.waitUntil(() => sandbox.files.exists('/tmp/held'), { timeout: 30_000, interval: 50 })
      await update(sandbox.sandboxId, { allowOut: [OTHER], denyOut: [ALL] })
      expect((await held).stdout).toMatch(/^(?:ConnectionResetError|SSLEOFError|read b'')\n$/)
      expect(await curl(sandbox, `--insecure --resolve ${ALLOWED}:443:${OUTSIDE.public} https://${ALLOWED}/`)).toMatch(/^exit/)
      expect(JSON.parse(await curl(sandbox, `--insecure https://${OTHER}/`))).toEqual(told(OTHER))
    })
  })

  test('rules add headers behind TLS, which the sandbox trusts and whose values it never has', async () => {
    const rules = { [KEYED]: [{ transform: { headers: { 'X-Key': SECRET } } }] }
    await withNetwork({ rules }, async (sandbox) => {
      expect(JSON.parse(await curl(sandbox, `https://${KEYED}/`))).toEqual(told(KEYED, SECRET))
      expect(JSON.parse(await curl(sandbox, `--header "X-Key: mine" https://${KEYED}/`))).toEqual(told(KEYED, SECRET))
      expect(JSON.parse(await curl(sandbox, `--insecure https://${OTHER}/`)), 'a name without a rule').toEqual(told(OTHER))
      expect(
        await curl(sandbox, `--insecure ${WITH_WRONG_ADDRESS(KEYED)} https://${KEYED}/`),
        'an address that the sandbox chose',
      ).not.toBe('')
      const found = await sandbox.commands.run(
        `env; cat /proc/*/environ /proc/*/cmdline 2> /dev/null; sudo cat /proc/*/environ 2> /dev/null; true`,
      )
      expect(found.stdout).not.toContain(SECRET)
    })
  })

  test('rules name secrets and identity tokens, whose values the sandbox never has', async () => {
    await Secret.create('Outside-Key', SECRET, connection())
    const iam = { tokens: { outside: Secret.iamToken({ audience: 'outside', tokenType: 'JWT-SVID' }) } }
    const ruleOf = (value: string) => ({ rules: { [KEYED]: [{ transform: { headers: { 'X-Key': value } } }] } })
    const sandbox = await Sandbox.create({ ...connection(), iam, network: ruleOf(Secret.fill('Outside-Key')) })
    try {
      expect(JSON.parse(await curl(sandbox, `https://${KEYED}/`))).toEqual(told(KEYED, SECRET))
      expect(await curl(sandbox, `http://${KEYED}/`), 'without TLS').toBe('A value that a network rule needs is missing.')
      expect((await sandbox.getInfo()).network?.rules?.[KEYED]).toEqual(ruleOf('${e2b.secrets.Outside-Key}').rules[KEYED])
      const found = await sandbox.commands.run(`env; sudo cat /proc/*/environ /proc/*/cmdline 2> /dev/null; true`)
      expect(found.stdout).not.toContain(SECRET)

      await Secret.update('outside-key', 'a newer value', connection())
      await vi.waitUntil(async () => (await curl(sandbox, `https://${KEYED}/`)).includes('a newer value'), { timeout: 30_000 })
      await update(sandbox.sandboxId, ruleOf('${e2b.identity.tokens.outside}'))
      const { key } = JSON.parse(await curl(sandbox, `https://${KEYED}/`)) as { key: string }
      const claims = JSON.parse(Buffer.from(key.split('.')[1] ?? '', 'base64url').toString()) as object
      expect(claims).toMatchObject({ aud: ['outside'], sub: expect.stringContaining(`/sandbox/${sandbox.sandboxId}`) as string })

      await update(sandbox.sandboxId, ruleOf('${e2b.secrets.outside-key}'))
      expect(await Secret.destroy('outside-key', connection())).toBe(true)
      const isRefused = async (): Promise<boolean> => (await curl(sandbox, `https://${KEYED}/`)).startsWith('A value that a network rule')
      await vi.waitUntil(isRefused, { timeout: 30_000 })
    } finally {
      await sandbox.kill()
    }
  })

  test('with an egress proxy all TCP connections leave through it', async () => {
    const egressProxy = { address: `${OUTSIDE.public}:${SOCKS_PORT}` }
    await withNetwork({ egressProxy, denyOut: ['198.51.100.77'] }, async (sandbox) => {
      expect(await curl(sandbox, `http://${WRONG_ADDRESS}:8080/`)).toBe(`proxied ${WRONG_ADDRESS}:8080`)
      expect(await curl(sandbox, `http://${ALLOWED}/`)).toMatch(/^proxied (?:198\.51\.100\.10|allowed\.example\.org):80$/)
      expect(await curl(sandbox, 'http://198.51.100.77:8080/'), 'a denied address').toMatch(/^exit/)
      expect(await curl(sandbox, `http://${OUTSIDE.metadata}/`), 'a closed address').toMatch(/^exit/)
    })
  })

  const connection = (): SandboxOpts => ({
    apiKey: server.setting('E2B_API_KEY'),
    apiUrl: server.setting('E2B_API_URL'),
    sandboxUrl: server.setting('E2B_SANDBOX_URL'),
  })

  /** Replaces the network of a sandbox. */
  async function update(sandboxId: string, network: object): Promise<void> {
    expect((await server.call('PUT', `/sandboxes/${sandboxId}/network`, network)).status).toBe(204)
  }
})
