import { execFile } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { pollUntil } from '@sandyard/kit/async/poll-until'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ensureDaemonDist } from '../build/dist.ts'
import { envelope, stream, unary } from './support/raw-rpc.ts'

const IMAGE = 'debian:bookworm-slim'
const docker = async (...args: string[]) => (await promisify(execFile)('docker', args)).stdout.trim()
const name = `sandyard-daemon-test-${randomUUID().slice(0, 8)}`
let url = ''

beforeAll(async () => {
  const { dir } = await ensureDaemonDist()
  const { mount, command } = JSON.parse(await readFile(join(dir, 'dist.json'), 'utf8')) as { mount: string; command: string[] }
  // The start command creates the account: the image has only root.
  const script = `useradd --create-home --groups sudo --shell /bin/bash user; exec ${command.join(' ')}`
  const limits = ['--cpus', '1.5', '--memory', '512m', '--pids-limit', '200', '--ulimit', 'nofile=4096:8192']
  await docker('run', '--detach', '--init', '--name', name, '--volume', `${dir}:${mount}:ro`, ...limits, IMAGE, '/bin/sh', '-c', script)
  url = `http://${await docker('inspect', '--format', '{{.NetworkSettings.IPAddress}}', name)}:49983`
  await pollUntil({ what: 'the daemon', timeoutMs: 30_000, everyMs: 20 }, () =>
    fetch(`${url}/health`).then(
      () => true,
      () => undefined,
    ),
  )
})
afterAll(() => docker('rm', '--force', name))

async function run(script: string, user = 'user'): Promise<string> {
  const authorization = `Basic ${Buffer.from(`${user}:`).toString('base64')}`
  const request = envelope({ process: { cmd: '/bin/bash', args: ['-l', '-c', script] }, stdin: false })
  const { envelopes } = await stream(url, 'process.Process/Start', request, { authorization })
  const chunks = envelopes.map(({ message }) => (message as { event?: { data?: { stdout?: string } } }).event?.data?.stdout ?? '')
  expect(envelopes.at(-2)?.message).toMatchObject({ event: { end: { exitCode: 0 } } })
  return Buffer.concat(chunks.map((chunk) => Buffer.from(chunk, 'base64'))).toString()
}

describe('the distribution in a container', () => {
  it('[process.Process/Start] opens terminals with the library beside the bundle', async () => {
    const request = envelope({
      process: { cmd: '/bin/bash', args: ['-c', 'stat -c %U "$(tty)"; stty size'] },
      pty: { size: { cols: 100, rows: 30 } },
    })
    const { envelopes } = await stream(url, 'process.Process/Start', request, {
      authorization: `Basic ${Buffer.from('user:').toString('base64')}`,
    })
    const chunks = envelopes.map(({ message }) => (message as { event?: { data?: { pty?: string } } }).event?.data?.pty ?? '')
    expect(Buffer.concat(chunks.map((chunk) => Buffer.from(chunk, 'base64'))).toString()).toBe('user\r\n30 100\r\n')
  })

  it('[process.Process/Start] runs commands as the account, with its groups, home and limits and without capabilities (envd.md 18.56)', async () => {
    expect(await run('id; pwd; umask; ulimit -Sn; nice')).toBe(
      'uid=1000(user) gid=1000(user) groups=1000(user),27(sudo)\n/home/user\n0022\n4096\n0\n',
    )
    expect(await run('grep -E "^Cap(Prm|Eff|Amb)" /proc/self/status | cut -f2 | sort -u')).toBe('0000000000000000\n')
    expect(await run('id -un; pwd', 'root')).toBe('root\n/root\n')
  })

  it('hides its environment and descriptors from processes', async () => {
    const variables = await run('env', 'root')
    expect(variables).not.toMatch(/NODE|LD_|sandyard/i)
    expect(await run('ls /proc/self/fd', 'root')).toBe('0\n1\n2\n3\n')
    expect(await run('cat /run/e2b/.E2B_SANDBOX')).toBe('true')
  })

  it('makes the kernel kill processes before the daemon when memory is short', async () => {
    expect(await run('cat /proc/$PPID/oom_score_adj', 'root')).toBe('0\n')
    expect(await run('cat /proc/self/oom_score_adj')).toBe('100\n')
  })

  it('writes files that belong to the account', async () => {
    const response = await fetch(`${url}/files?path=a/b.txt&username=user`, {
      method: 'POST',
      headers: { 'content-type': 'application/octet-stream' },
      body: 'hello',
    })
    expect(response.status).toBe(200)
    const { text } = await unary(url, 'filesystem.Filesystem/Stat', { path: '/home/user/a/b.txt' })
    expect(JSON.parse(text)).toMatchObject({ entry: { size: 5, owner: 'user', group: 'user', permissions: '-rw-r--r--' } })
    expect(await run('cat a/b.txt')).toBe('hello')
  })

  it('streams a large output completely, and runs many commands at once', async () => {
    expect((await run('head -c 20000000 /dev/zero | tr "\\0" x')).length).toBe(20_000_000)
    const answers = await Promise.all(Array.from({ length: 50 }, (_, index) => run(`echo ${index}`)))
    expect(answers).toEqual(Array.from({ length: 50 }, (_, index) => `${index}\n`))
  })

  it('[daemon GET /metrics] measures the container, not the machine', async () => {
    const metrics = async () => (await (await fetch(`${url}/metrics`)).json()) as Record<string, number>
    await metrics()
    await run('i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done')
    const busy = await metrics()
    expect(busy).toMatchObject({ cpu_count: 2, mem_total: 512 * 1024 ** 2, mem_total_mib: 512 })
    expect(busy['cpu_used_pct']).toBeGreaterThan(0)
    expect(busy['mem_used']).toBeLessThan(200 * 1024 ** 2)

    await run('head -c 100000000 /dev/zero > /tmp/cached; head -c 50000000 /dev/zero > /dev/shm/kept')
    const filled = await metrics()
    expect(filled['mem_cache']).toBeGreaterThan((busy['mem_cache'] ?? 0) + 140_000_000)
    // The kernel can drop cached files from memory, but not the content of /dev/shm.
    const grown = (filled['mem_used'] ?? 0) - (busy['mem_used'] ?? 0)
    expect(grown).toBeGreaterThan(40_000_000)
    expect(grown).toBeLessThan(90_000_000)
  })

  it('ends its streams and exits with status 0 when the engine stops the container', async () => {
    const request = envelope({ process: { cmd: 'sleep', args: ['60'] } })
    const open = stream(url, 'process.Process/Start', request)
    await pollUntil({ what: 'the process', timeoutMs: 20_000, everyMs: 20 }, async () =>
      (await unary(url, 'process.Process/List', {})).text.includes('sleep') ? true : undefined,
    )
    await docker('stop', '--time', '30', name)
    expect((await open).envelopes.at(-1)?.message).toMatchObject({ error: { code: 'unavailable' } })
    expect(await docker('inspect', '--format', '{{.State.ExitCode}}', name)).toBe('0')
  })
})
