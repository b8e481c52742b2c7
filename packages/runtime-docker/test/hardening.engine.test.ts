import { pollUntil } from '@sandyard/kit/async/poll-until'
import { createLogger } from '@sandyard/kit/logging/create-logger'
import { randomId } from '@sandyard/kit/ids/ids'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { DockerRuntime } from '../src/docker-runtime.ts'
import { readEngineFacts } from '../src/engine/engine-facts.ts'
import { securityWarnings } from '../src/engine/security-warnings.ts'
import { SYSTEM_PATHS } from '../src/containers/system-paths.ts'
import { containerName } from '../src/labels.ts'
import { EngineBench, sandboxSpec } from './support/engine-bench.ts'
import { Inside } from './support/inside.ts'
import { runConfined } from './support/system-calls.ts'
import { buildTestImage, ensureToolImage } from './support/test-images.ts'

/** An image that tries to run code in the daemon, to run the container as another user and to keep a volume. */
const HOSTILE_IMAGE = `
FROM debian:bookworm-slim
ENV LD_PRELOAD=/nowhere.so NODE_OPTIONS=--require=/nowhere.js OPENSSL_CONF=/nowhere.cnf NODE_CHANNEL_FD=7
ENV PATH=/opt/mine/bin:/usr/bin:/bin
LABEL sandyard.installation=another sandyard.sandbox-id=another sandyard.role=guard sandyard.member=sandyard
USER nobody
WORKDIR /tmp
VOLUME /data
HEALTHCHECK --interval=1s CMD false
ENTRYPOINT ["/bin/false"]
CMD ["nothing"]
`

/** A setting of the whole host that every kernel has. */
const SETTING = '/proc/sys/vm/swappiness'

const installation = `test-${randomId(8)}`

describe('a sandbox', () => {
  const stack = new AsyncDisposableStack()
  let bench: EngineBench
  let runtime: DockerRuntime
  let image: string
  let inside: Inside

  beforeAll(async () => {
    bench = stack.use(await EngineBench.open())
    image = await ensureToolImage(bench.docker)
    runtime = await bench.runtime({ installation, pidsLimit: 100 })
    inside = await start()
  })
  afterAll(() => stack.disposeAsync())

  async function start(change: Parameters<typeof sandboxSpec>[0] = {}): Promise<Inside> {
    return new Inside(await runtime.create(sandboxSpec({ image, ...change })))
  }

  it('has only the capabilities that it needs, and a seccomp profile', async () => {
    const { stdout } = await inside.sh("capsh --decode=$(sed -n 's/^CapBnd:\\s*//p' /proc/self/status); grep ^Seccomp: /proc/self/status")
    const kept = 'chown dac_override fowner fsetid kill setgid setuid net_bind_service sys_chroot audit_write'
    expect(stdout.trim().split('\n')).toEqual([
      expect.stringContaining(
        `=${kept
          .split(' ')
          .map((name) => `cap_${name}`)
          .join()}`,
      ),
      'Seccomp:\t2',
    ])
  })

  it('sees no files, engine socket, devices or control groups of the host', async () => {
    const { stdout } = await inside.sh("awk '{ print $5 }' /proc/self/mountinfo | grep -v -E '^/(proc|sys|dev)(/|$)' | sort")
    expect(stdout.trim().split('\n')).toEqual([
      '/',
      '/etc/hostname',
      '/etc/hosts',
      '/etc/resolv.conf',
      '/opt/sandyard',
      '/usr/sbin/docker-init',
    ])
    expect(await inside.sh('ls /var/run/docker.sock /run/docker.sock')).toMatchObject({ code: 2, stdout: '' })
    const devices = await inside.sh('find /dev -type b; mknod /tmp/disk b 8 0')
    expect(devices).toMatchObject({ code: 1, stdout: '' })
    expect((await inside.sh('cut -d: -f3 /proc/1/cgroup | sort -u')).stdout).toBe('/\n')
  })

  it('neither sees nor changes what the kernel shows of the host in /proc and /sys', async () => {
    const { masked, readOnly } = SYSTEM_PATHS
    const look = `
      for path in ${masked.join(' ')}; do
        if [ -d $path ]; then echo "$path $(ls -A $path | wc -l)"; elif [ -e $path ]; then echo "$path $(stat -c %t:%T $path)"; fi
      done
      for path in ${readOnly.join(' ')} ${SETTING}; do
        [ ! -e $path ] || if [ -w $path ] || [ -d $path ] && ! grep -q " $path ro," /proc/self/mountinfo; then echo "$path open"; else echo "$path shut"; fi
      done`
    const shown = parsePaths((await inside.sh(look)).stdout)
    const control = parsePaths(await runConfined(bench.docker, ['/bin/sh', '-c', look], { systemPaths: { masked: [], readOnly: [] } }))
    expect([...shown.keys()].sort()).toEqual([...control.keys()].sort())
    // The directory of an empty mount, or the device /dev/null.
    expect(masked.filter((path) => shown.has(path) && !['0', '1:3'].includes(shown.get(path) ?? ''))).toEqual([])
    expect(readOnly.filter((path) => shown.has(path) && shown.get(path) !== 'shut')).toEqual([])
    expect([control.get('/proc/keys'), control.get('/proc/sys'), control.get(SETTING)], 'without the lists').toEqual([
      '0:0',
      'open',
      'open',
    ])
    expect(shown.get(SETTING)).toBe('shut')
    expect(await inside.sh('ps aux && free && top -bn1 && lscpu && nproc && uptime')).toMatchObject({ code: 0 })
  })

  it.for([
    'touch /opt/sandyard/mine',
    'rm /opt/sandyard/daemon.mjs',
    'mount -o remount,rw /opt/sandyard',
    'mount -t tmpfs none /mnt',
    'chroot /proc/1/root nsenter -t 1 -m true',
  ])('root cannot run: %s', async (command) => {
    expect((await inside.sh(command)).code).not.toBe(0)
  })

  it('starts on an engine whose gaps the server has named in its log', async () => {
    const lines: string[] = []
    const log = createLogger({ name: 'test', level: 'warn', destination: { write: (line) => void lines.push(line) } })
    await bench.runtime({ log })
    const told = lines.map((line) => (JSON.parse(line) as { msg: string }).msg)
    const expected = securityWarnings(await readEngineFacts(bench.docker, undefined))
    expect(told).toEqual(expect.arrayContaining(expected))
  })

  it('has sudo, su, chown, set-uid programs, low ports and packages for its users', async () => {
    const script = `
      set -e
      test "$(su user -c 'sudo -n id -u' 2>&1)" = 0
      su user -c 'sudo -n -u nobody true'
      touch /tmp/f && chown user: /tmp/f && chmod u+s /tmp/f
      sleep 100 & su user -c "sudo -n kill $!"
      dpkg --configure -a
      chroot / true`
    expect(await inside.sh(script)).toMatchObject({ code: 0, stderr: '' })
  })

  it('has no sudo where its template forbids it', async () => {
    const strict = await start({ allowPrivilegeGain: false })
    const { code, stderr } = await strict.sh("su user -c 'sudo -n id -u'")
    expect(code).not.toBe(0)
    expect(stderr).toContain('no new privileges')
  })

  it('cannot end the daemon or the host with a fork bomb', async () => {
    const bombed = await start()
    const { stderr } = await bombed.sh('for i in $(seq 300); do sleep 60 >/dev/null 2>&1 & done')
    expect(stderr).toMatch(/fork|Resource temporarily unavailable/i)
    expect(await bombed.isHealthy()).toBe(true)
  })

  it('loses the process that exceeds its memory, and keeps the daemon', async () => {
    const hungry = await start({ resources: { cpuCount: 1, memoryMib: 128, diskMib: 512 } })
    const { code } = await hungry.sh('head --bytes 1G /dev/zero | tail --bytes 1G > /dev/null; exit ${PIPESTATUS:-$?}')
    expect(code).toBe(137)
    expect(await hungry.isHealthy()).toBe(true)
  })

  it('loses its processes before the host loses others when it has no memory left', async () => {
    const { stdout } = await inside.sh('cat /proc/1/oom_score_adj /proc/self/oom_score_adj')
    expect(stdout).toBe('200\n200\n')
  })

  it('that loses its daemon to its memory has ended for its memory', async () => {
    // Its owner can make the daemon the first process that the kernel kills.
    const preferDaemon =
      "for p in /proc/[0-9]*; do grep -qs 'instance[=]' $p/cmdline && echo 1000 > $p/oom_score_adj; done; echo 500 > /proc/$$/oom_score_adj"
    const loseDaemon = async (): Promise<string> => {
      const spec = sandboxSpec({ image, resources: { cpuCount: 1, memoryMib: 128, diskMib: 512 } })
      const hungry = new Inside(await runtime.create(spec))
      try {
        expect(await runtime.findEnd(spec)).toBeUndefined()
        // The answer ends with the daemon.
        void hungry.sh(`${preferDaemon}; head --bytes 1G /dev/zero | tail --bytes 1G > /dev/null`).catch(() => undefined)
        const end = await pollUntil({ what: 'the end', timeoutMs: 60_000, everyMs: 50 }, () => runtime.findEnd(spec))
        return end.cause
      } finally {
        await runtime.remove(spec)
      }
    }
    // The engine knows it only when it hears of the lack of memory before it hears of the end: on a busy machine not always.
    await expect.poll(loseDaemon, { timeout: 120_000 }).toBe('out_of_memory')
  })

  it('has its configured processor time', async () => {
    const half = await start({ resources: { cpuCount: 0.5, memoryMib: 128, diskMib: 512 } })
    const { stdout } = await half.sh(
      'cat /sys/fs/cgroup/cpu.max 2>/dev/null || cat /sys/fs/cgroup/cpu/cpu.cfs_quota_us /sys/fs/cgroup/cpu/cpu.cfs_period_us',
    )
    expect(stdout.trim().split(/\s+/)).toEqual(['50000', '100000'])
  })

  it('runs the daemon against the settings of its image, and leaves no volume behind', async () => {
    const hostile = await buildTestImage(bench.docker, 'hostile', HOSTILE_IMAGE)
    const spec = sandboxSpec({ image: hostile })
    const guest = new Inside(await runtime.create(spec))
    const environment = await guest.environment()
    expect(Object.keys(environment).toSorted()).toEqual(['HOME', 'HOSTNAME', 'PATH', 'SANDYARD_INSTANCE_FILE'])
    expect(environment['PATH']).toBe('/opt/mine/bin:/usr/bin:/bin')
    expect((await guest.sh('id -u; pwd')).stdout).toBe('0\n/\n')
    expect(await runtime.list()).toContainEqual(expect.objectContaining({ sandboxId: spec.sandboxId, state: 'running' }))
    const { Mounts, Config } = await bench.docker.getContainer(containerName(installation, spec)).inspect()
    expect(Config.Labels['sandyard.member']).toBe('')
    const own = Mounts.flatMap(({ Name }) => (Name === undefined || Name === bench.volume ? [] : [Name]))
    await runtime.remove(spec)
    expect((await volumes()).filter((name) => own.includes(name))).toEqual([])
  })

  /** Lines of a path and a word. */
  function parsePaths(text: string): Map<string, string> {
    return new Map([...text.matchAll(/^(\/\S+) (\S+)$/gm)].map(([, path = '', word = '']) => [path, word]))
  }

  async function volumes(): Promise<string[]> {
    return (await bench.docker.listVolumes()).Volumes.map(({ Name }) => Name).toSorted()
  }
})
