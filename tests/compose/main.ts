/**
 * `npm run compose:test`: the Compose file with its profiles `tls` and `two-api`, on this machine's engine. It takes some minutes and needs
 * Docker Compose and either a registry or `npm run offline-images`. `--no-build` uses the images of the last run, `--quick` leaves out the acceptance tests.
 */
import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Sandbox } from 'e2b'
import { checkDashboard } from './dashboard.ts'
import { DOMAIN, PORTS, Project, ROOT } from './project.ts'

interface Client {
  readonly apiKey: string
  readonly apiUrl: string
  readonly sandboxUrl: string
}

const flags = new Set(process.argv.slice(2))
const say = (text: string): void => console.log(`== ${text}`)

await using project = new Project({
  SANDYARD_DOMAIN: `${DOMAIN}:${PORTS.https}`,
  SANDYARD_TLS_DOMAIN: DOMAIN,
  SANDYARD_API_URL: `https://api.${DOMAIN}:${PORTS.https}`,
  SANDYARD_REGISTRIES: '*,127.0.0.1',
})
if (!flags.has('--no-build')) await project.show('build')
say('up')
await project.show('up', '--detach', '--wait', '--no-build')

const credentials = await project.read('exec', '-T', '--user', 'sandyard', 'api', 'cat', '/var/lib/sandyard/credentials')
const secretOf = (name: string): string => new RegExp(`^${name}=(\\S+)$`, 'm').exec(credentials)?.[1] ?? ''
const at = (api: number, proxy: number): Client => ({
  apiKey: secretOf('E2B_API_KEY'),
  apiUrl: `http://127.0.0.1:${api}`,
  sandboxUrl: `http://127.0.0.1:${proxy}`,
})
const direct = at(PORTS.api, PORTS.proxy)
const balanced = at(PORTS.balancedApi, PORTS.balancedProxy)

say('no key in a log')
const logs = await project.read('logs', '--no-color')
for (const name of ['E2B_API_KEY', 'E2B_ACCESS_TOKEN']) assert.ok(secretOf(name) !== '' && !logs.includes(secretOf(name)), name)

say('what the containers may do')
for (const service of ['postgres', 'api', 'proxy', 'egress', 'caddy']) {
  const status = await project.read('exec', '-T', service, 'cat', '/proc/1/status', '/proc/1/task/1/children')
  assert.match(status, /NoNewPrivs:\t1/, service)
}
const owners = await project.read(
  'exec',
  '-T',
  'api',
  'sh',
  '-c',
  'for s in /proc/[0-9]*/status; do grep -l apps/api/src/main ${s%status}cmdline >/dev/null 2>&1 && grep -hE "^(Uid|CapEff|CapBnd)" $s; done',
)
assert.match(owners, /Uid:\t10001/)
assert.match(owners, /CapBnd:\t0000000000000000/)

say('the main job, directly and through the balancer')
for (const client of [direct, balanced]) await mainJob(client)

say('the dashboard')
for (const { apiUrl } of [direct, balanced]) await checkDashboard(apiUrl)
const modules = (await project.read('exec', '-T', 'api', 'ls', 'node_modules/.pnpm/node_modules')).split('\n')
assert.deepEqual(
  ['fastify', 'preact', 'vite'].map((name) => modules.includes(name)),
  [true, false, false],
  'the image has what only the build of the page needs',
)

say('over TLS: HTTP/2, certificates on demand, WebSockets')
await overTls()

say('one of each program is killed at a time')
await killedPrograms()

say('without TLS: the command line in the container of the API')
const adminToken = randomBytes(16).toString('hex')
project.configure({ SANDYARD_REGISTRIES: '*,127.0.0.1', SANDYARD_ADMIN_TOKEN: adminToken })
await project.read('up', '--detach', '--wait', '--no-build')
await commandLine()

if (!flags.has('--quick')) {
  say('the acceptance tests')
  await acceptance()
}
say('passed')

async function mainJob(client: Client): Promise<void> {
  const sandbox = await Sandbox.create({ ...client, timeoutMs: 120_000 })
  assert.equal((await sandbox.commands.run('echo hello')).stdout, 'hello\n')
  await sandbox.files.write('a.txt', 'kept')
  await sandbox.pause()
  const again = await Sandbox.connect(sandbox.sandboxId, client)
  assert.equal(await again.files.read('a.txt'), 'kept')
  const outcome = await again.commands.run(
    'for a in $(getent hosts api proxy postgres | cut -d" " -f1); do timeout 2 bash -c "</dev/tcp/$a/3000" && echo open; done; echo done',
  )
  assert.equal(outcome.stdout, 'done\n')
  await again.kill()
}

async function overTls(): Promise<void> {
  const root = join(mkdtempSync(join(tmpdir(), 'sandyard-ca-')), 'root.crt')
  const name = `api.${DOMAIN}`
  const curl = (...args: string[]): string =>
    execFileSync('curl', ['--silent', '--max-time', '20', '--cacert', root, '--resolve', `*:${PORTS.https}:127.0.0.1`, ...args], {
      encoding: 'utf8',
    })
  await project.read('cp', 'caddy:/data/caddy/pki/authorities/local/root.crt', root)
  const answer = curl('--output', '/dev/null', '--write-out', '%{http_code} %{http_version}', `https://${name}:${PORTS.https}/health`)
  assert.equal(answer, '200 2')
  assert.throws(() => curl(`https://80-nosuchsandbox.${DOMAIN}:${PORTS.https}/`), 'no certificate for a sandbox that does not exist')
  // oxlint-disable-next-line node/no-process-env -- the programs of this machine
  const env = { ...process.env, NODE_EXTRA_CA_CERTS: root }
  execFileSync(process.execPath, [join(import.meta.dirname, 'over-tls.ts'), direct.apiKey], { stdio: 'inherit', env })
}

/** Every call that begins after the end of a program is served by the other one. */
async function killedPrograms(): Promise<void> {
  const sandbox = await Sandbox.create({ ...balanced, timeoutMs: 300_000 })
  for (const service of ['api', 'proxy', 'api-2', 'proxy-2']) {
    await project.kill(service)
    try {
      for (let count = 0; count < 5; count += 1) {
        assert.equal((await sandbox.commands.run('echo still here')).stdout, 'still here\n')
        const other = await Sandbox.create({ ...balanced, timeoutMs: 60_000 })
        assert.equal((await other.commands.run('true')).exitCode, 0)
        await other.kill()
      }
    } catch (err) {
      await project.show('logs', '--since', '60s', '--timestamps')
      throw err
    }
    await project.read('up', '--detach', '--wait', '--no-build')
    console.log(`   ${service}: served by the other one`)
  }
  await sandbox.kill()
}

async function commandLine(): Promise<void> {
  const sandyard = (...args: string[]): Promise<string> => project.read('exec', '-T', 'api', 'sandyard', ...args)
  const env = await sandyard('env')
  assert.deepEqual(env.trim().split('\n').toSorted(), [
    `export E2B_API_KEY=${direct.apiKey}`,
    `export E2B_API_URL=${direct.apiUrl}`,
    `export E2B_SANDBOX_URL=${direct.sandboxUrl}`,
    `export E2B_VOLUME_API_URL=${direct.apiUrl}`,
  ])
  const sandbox = await Sandbox.create({ ...direct, timeoutMs: 300_000 })
  assert.equal(await sandyard('exec', sandbox.sandboxId, '--', 'echo', 'from the container'), 'from the container\n')
  await sandbox.files.write('a.txt', 'in the backup')
  await sandbox.pause()
  await sandyard('backup', '/var/lib/sandyard/backup.tar', '--no-images')
  await sandyard('verify', '/var/lib/sandyard/backup.tar')
  assert.match(await sandyard('status'), /ready/i)
  await Sandbox.kill(sandbox.sandboxId, direct)
}

async function acceptance(): Promise<void> {
  const env = {
    // oxlint-disable-next-line node/no-process-env -- the engine and the programs of this machine
    ...process.env,
    E2B_API_KEY: direct.apiKey,
    E2B_ACCESS_TOKEN: secretOf('E2B_ACCESS_TOKEN'),
    E2B_API_URL: direct.apiUrl,
    E2B_SANDBOX_URL: direct.sandboxUrl,
    E2B_VOLUME_API_URL: direct.apiUrl,
    SANDYARD_TEST_ADMIN_TOKEN: adminToken,
    SANDYARD_TEST_METRICS_URL: `http://127.0.0.1:${PORTS.metrics}/metrics`,
  }
  const child = spawn('sh', ['tools/run', 'exec', 'vitest', 'run', '--project', 'acceptance'], { cwd: ROOT, env, stdio: 'inherit' })
  const code = await new Promise((resolve) => child.once('exit', resolve))
  assert.equal(code, 0, 'the acceptance tests')
}
