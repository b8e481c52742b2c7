import { networkInterfaces } from 'node:os'
import { createServer } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { createHash } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import { buffer } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { pack } from 'tar-stream'
import { sandboxAccessToken } from '@sandyard/db/sandbox-token'
import { Secret } from '@sandyard/kit/config/secret'
import type { Outbound } from '@sandyard/kit/outbound/outbound'
import { connectEngine } from '@sandyard/runtime-docker/engine/connect-engine'
import { ensureBaseImage } from '@sandyard/runtime-docker/images/base-image'
import { parseApiConfig } from '../src/config.ts'
import { runShell } from '../src/daemon/run-shell.ts'
import { openBenchApp, type BenchApp } from './support/bench-app.ts'
import { BuildBench } from './support/build-bench.ts'
import { CompanyProxy } from './support/company-proxy.ts'

const CREDENTIALS = 'me:hush'
/** The bridges of other tests come and go. */
const OF_ENGINE = /^(?:docker|br-|sy|veth)/
const BUNDLE = '/etc/ssl/certs/ca-certificates.crt'

/** Reads the packages of a repository and shows the version of one. */
const aptUpdate = (repository: string): string => {
  const options = '-o Dir::Etc::sourcelist=/tmp/sources -o Dir::Etc::sourceparts=-'
  return `echo 'deb [trusted=yes] ${repository} ./' > sources && sudo apt-get update -qq ${options} && apt-cache policy ${options} tiny-package | grep Candidate`
}

const stack = new AsyncDisposableStack()
let proxy: CompanyProxy
let bench: BuildBench
let api: BenchApp
/** Of this host: closed to sandboxes, as the private networks are. */
let address: string
let otherPort: number

beforeAll(async () => {
  address = Object.entries(networkInterfaces())
    .filter(([name]) => !OF_ENGINE.test(name))
    .flatMap(([, found]) => found ?? [])
    .find(({ family, internal }) => family === 'IPv4' && !internal)?.address as string
  proxy = stack.use(await CompanyProxy.start({ credentials: CREDENTIALS, sites: await sitesOf() }))
  const other = createServer((_, answer) => answer.end()).listen(0, '0.0.0.0')
  stack.defer(() => void other.close())
  await once(other, 'listening')
  otherPort = (other.address() as AddressInfo).port
  const url = `http://${CREDENTIALS}@${address}:${proxy.port}`
  const outbound: Outbound = {
    extraCa: [proxy.authority],
    httpProxy: { url: new Secret(url), host: address, port: proxy.port },
    noProxy: [],
  }
  // oxlint-disable-next-line node/no-process-env -- the person who runs the tests selects the engine
  const docker = await connectEngine(process.env['DOCKER_HOST'])
  const baseImage = await ensureBaseImage(docker, { progress: { step: () => undefined, detail: () => undefined } })
  bench = stack.use(await BuildBench.open({ egressGateway: { tcpPort: 18_443, dnsPort: 18_053 }, outbound, baseImage }))
  await bench.seedBase()
  api = await openBenchApp(stack, bench, { ...parseApiConfig({}), outbound })
})
afterAll(() => stack.disposeAsync())

const call: BenchApp['call'] = (...args) => api.call(...args)
const create: BenchApp['create'] = (body) => api.create(body)

/** What a command of the default user prints, both streams, with a last line for a failure. */
async function run(id: string, command: string): Promise<string> {
  const { endpoint_host: host, endpoint_daemon_port: daemonPort } = await bench.database.db
    .selectFrom('sandbox')
    .select(['endpoint_host', 'endpoint_daemon_port'])
    .where('sandbox_id', '=', id)
    .executeTakeFirstOrThrow()
  const endpoint = { host: host ?? '', daemonPort: daemonPort ?? 0 }
  const daemon = { endpoint, accessToken: sandboxAccessToken(api.ctx.installation.tokenSeed, id) }
  const lines: string[] = []
  const options = { onLine: (_: string, line: string) => void lines.push(line), signal: AbortSignal.timeout(60_000) }
  const { exitCode } = await runShell(daemon, { command, user: 'user', cwd: '/tmp' }, options)
  return [...lines, ...(exitCode === 0 ? [] : [`exit ${exitCode}`])].join('\n')
}

/** Whether a TCP connection to this host succeeds. */
async function reaches(id: string, port: number): Promise<boolean> {
  return (await run(id, `timeout 5 bash -c 'exec 3<>/dev/tcp/${address}/${port}' 2> /dev/null`)) === ''
}

describe('a sandbox behind the proxy of a company', () => {
  it.each([
    ['curl', 'curl -sS https://site.test/hello', /^hello$/],
    ['wget', 'wget -qO- https://site.test/hello', /^hello$/],
    ['python', `python3 -c 'import urllib.request as r; print(r.urlopen("https://site.test/hello").read().decode())'`, /^hello$/],
    ['node', `NODE_USE_ENV_PROXY=1 node -e 'fetch("https://site.test/hello").then((a) => a.text()).then(console.log)'`, /^hello$/],
    ['git', 'git ls-remote https://git.test/repository', /^0123456789abcdef0123456789abcdef01234567\trefs\/heads\/main$/],
    ['npm', 'npm install --no-audit --no-fund tiny-package && node -p "require(\'tiny-package\')"', /\ntiny$/],
    ['pip', 'pip install -q --no-build-isolation tiny-wheel && python3 -c "import tiny_wheel; print(tiny_wheel.NAME)"', /tiny$/],
    ['apt with sudo', aptUpdate('http://apt.test/'), /Candidate: 1\.0$/],
    ['apt over https with sudo', aptUpdate('https://apt.test/'), /Candidate: 1\.0$/],
  ])('reaches the world with %s', async (_, command, output) => {
    expect(await run((shared ??= await create()), command)).toMatch(output)
  })
  let shared: string | undefined

  it('reaches the address and the port of the proxy only, and only with an open policy', async () => {
    const id = await create()
    expect([await reaches(id, proxy.port), await reaches(id, otherPort)]).toEqual([true, false])
    for (const network of [
      { allow_internet_access: false },
      { denyOut: ['203.0.113.0/24'] },
      { denyOut: ['0.0.0.0/0'], allowOut: [`${address}/32`] },
      { denyOut: ['0.0.0.0/0'], allowOut: ['site.test'] },
      { rules: { 'site.test': [{ transform: { headers: { a: 'b' } } }] } },
    ]) {
      expect(await call('PUT', `/sandboxes/${id}/network`, network)).toMatchObject({ status: 204 })
      expect([network, await reaches(id, proxy.port)]).toEqual([network, false])
    }
    expect(await run(id, 'curl -sS -m 5 https://site.test/hello')).toMatch(/exit \d+$/)
    expect(await call('PUT', `/sandboxes/${id}/network`, {})).toMatchObject({ status: 204 })
    expect(await reaches(id, proxy.port)).toBe(true)
    expect(await reaches(await create({ allow_internet_access: false }), proxy.port)).toBe(false)
  })
})

describe('a build behind the proxy of a company', () => {
  const traces = `cat ${BUNDLE} /usr/local/share/ca-certificates/e2b-ca.crt /etc/environment /etc/apt/apt.conf.d/* 2> /dev/null; env`

  /** All that the image tells of the proxy and its authority. */
  async function tracesOf(image: string, text: string): Promise<string[]> {
    // oxlint-disable-next-line node/no-process-env -- the person who runs the tests selects the engine
    const docker = (await connectEngine(process.env['DOCKER_HOST'])).getImage(image)
    const all = JSON.stringify([await docker.inspect(), await docker.history()]) + text
    return ['hush', `${address}:${proxy.port}`, proxy.authority.split('\n')[1] ?? ''].filter((trace) => all.includes(trace))
  }

  it('from steps has the proxy and the authorities in RUN, and nothing of them in the image', async () => {
    const { build_id: buildId } = await bench.database.db.selectFrom('build').select('build_id').executeTakeFirstOrThrow()
    const { result, error, text } = await bench.build({
      source: { kind: 'template', reference: 'base', buildId },
      steps: [
        { type: 'RUN', args: ['curl -sS https://site.test/hello', 'root'], force: false },
        { type: 'RUN', args: ['update-ca-certificates; curl -sS https://site.test/hello > /srv/again', 'root'], force: false },
      ],
    })
    expect([error, text.split('\n').filter((line) => line.endsWith('hello'))]).toEqual([
      undefined,
      [expect.stringContaining('[stdout]: hello')],
    ])
    if (result === undefined) throw new Error('the build has failed')
    expect(await bench.inSandbox(result, 'cat /srv/again')).toBe('hello')
    expect(await tracesOf(result.image, JSON.stringify(result) + (await bench.inSandbox(result, traces)))).toEqual([])
    expect(await bench.inSandbox(result, 'find /etc/ssl/certs -xtype l')).toBe('')
  })

  it('from a Dockerfile has the proxy in RUN, and nothing of it in the image', async () => {
    const text =
      'FROM e2bdev/base\nRUN curl -sS http://site.test/hello > /srv/made\nARG https_proxy=none\nRUN echo $https_proxy > /srv/declared'
    const { result, error } = await bench.build({ source: { kind: 'dockerfile', text } }, { version: 'v1' })
    expect(error).toBeUndefined()
    if (result === undefined) throw new Error('the build has failed')
    expect(await bench.inSandbox(result, 'cat /srv/made /srv/declared')).toBe('hellonone')
    expect(await tracesOf(result.image, JSON.stringify(result) + (await bench.inSandbox(result, traces)))).toEqual([])
  })
})

async function tar(files: Readonly<Record<string, string>>): Promise<Buffer> {
  const archive = pack()
  for (const [name, text] of Object.entries(files)) archive.entry({ name }, text)
  archive.finalize()
  return gzipSync(await buffer(archive))
}

/** A web server, a registry of npm, an index of Python packages, a repository of git and one of Debian packages. */
async function sitesOf(): Promise<Record<string, (path: string) => string | Buffer | undefined>> {
  const npmPackage = await tar({
    'package/package.json': JSON.stringify({ name: 'tiny-package', version: '1.0.0' }),
    'package/index.js': "module.exports = 'tiny'\n",
  })
  const pythonPackage = await tar({
    'tiny-wheel-1.0/setup.py': "from setuptools import setup\nsetup(name='tiny-wheel', version='1.0', py_modules=['tiny_wheel'])\n",
    'tiny-wheel-1.0/tiny_wheel.py': "NAME = 'tiny'\n",
    'tiny-wheel-1.0/PKG-INFO': 'Metadata-Version: 1.0\nName: tiny-wheel\nVersion: 1.0\n',
  })
  const tarball = 'https://registry.npmjs.org/tiny-package/-/tiny-package-1.0.0.tgz'
  const dist = { tarball, shasum: createHash('sha1').update(npmPackage).digest('hex') }
  const npmDocument = {
    name: 'tiny-package',
    'dist-tags': { latest: '1.0.0' },
    versions: { '1.0.0': { name: 'tiny-package', version: '1.0.0', dist } },
  }
  const pages: Record<string, Record<string, string | Buffer>> = {
    'site.test': { '/hello': 'hello' },
    'registry.npmjs.org': { '/tiny-package': JSON.stringify(npmDocument), '/tiny-package/-/tiny-package-1.0.0.tgz': npmPackage },
    'pypi.org': { '/simple/tiny-wheel/': '<a href="https://files.pythonhosted.org/tiny-wheel-1.0.tar.gz">tiny-wheel-1.0.tar.gz</a>' },
    'files.pythonhosted.org': { '/tiny-wheel-1.0.tar.gz': pythonPackage },
    'git.test': {
      '/repository/info/refs': '0123456789abcdef0123456789abcdef01234567\trefs/heads/main\n',
      '/repository/HEAD': 'ref: refs/heads/none\n',
    },
    'apt.test': {
      '/Packages':
        'Package: tiny-package\nVersion: 1.0\nArchitecture: all\nFilename: ./tiny.deb\nSize: 1\nMaintainer: a\nDescription: tiny\n',
    },
  }
  const sites = Object.entries(pages).map(([host, site]) => [host, (path: string) => site[path.replace('/./', '/')]] as const)
  return Object.fromEntries(sites)
}
