import { Secret } from '@sandyard/kit/config/secret'
import { secretDigest } from '@sandyard/kit/secrets/secret-digest'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ensureDaemonDist } from '../../../apps/daemon/build/dist.ts'
import type { DockerRuntime } from '../src/docker-runtime.ts'
import { containerName } from '../src/labels.ts'
import { EngineBench, sandboxSpec } from './support/engine-bench.ts'
import { initRealDaemon, runInRealDaemon } from './support/real-daemon.ts'

describe('the identity of the daemon of the project', () => {
  const stack = new AsyncDisposableStack()
  let bench: EngineBench
  let runtime: DockerRuntime
  let installation: string

  beforeAll(async () => {
    bench = stack.use(await EngineBench.open())
    const options = bench.options({ daemonDist: await ensureDaemonDist() })
    ;({ installation } = options)
    runtime = await bench.runtime(options)
  })
  afterAll(() => stack.disposeAsync())

  it('comes by /init with the key of the instance, also after a restart from files', async () => {
    const spec = sandboxSpec()
    const first = { spec, endpoint: await runtime.create(spec) }
    expect(await initRealDaemon(first, new Secret('another key'))).toBe(401)
    expect(await initRealDaemon(first)).toBe(204)
    expect(await runInRealDaemon(first, '/bin/cat', ['/run/e2b/.E2B_SANDBOX_ID'])).toContain(`stdout: ${spec.sandboxId}`)

    const handle = await runtime.pause(spec, 'files')
    const { endpoint } = await runtime.resume(handle, { spec, keep: 'files' })
    const second = { spec, endpoint }
    expect(await initRealDaemon(second, new Secret('another key'))).toBe(401)
    expect(await runInRealDaemon(second, '/usr/bin/env')).toContain(`E2B_SANDBOX_ID=${spec.sandboxId}\n`)
    await runtime.remove(spec)
  })

  it('is not in the environment of the container, and no secret or digest of one is', async () => {
    const spec = sandboxSpec()
    const daemon = { spec, endpoint: await runtime.create(spec) }
    const digest = secretDigest(spec.instanceKey.reveal())
    const inspected = await bench.docker.getContainer(containerName(installation, spec)).inspect()
    expect(inspected.Args.join(' ')).toContain(digest)
    expect(JSON.stringify(inspected)).not.toContain(spec.instanceKey.reveal())
    const inside = await runInRealDaemon(daemon, '/bin/sh', ['-c', 'cat /proc/1/environ /proc/$PPID/environ /proc/self/environ; env'])
    expect(inside).toContain(`E2B_SANDBOX_ID=${spec.sandboxId}`)
    const environments = [...inspected.Config.Env, ...inside.split(/[\0\n]/)]
    expect(environments).toContain('SANDYARD_INSTANCE_FILE=/proc/1/cmdline')
    expect(environments.join('\n')).not.toMatch(/[0-9a-f]{64}/)
    expect(inspected.Config.Env.join('\n')).not.toContain(spec.sandboxId)
    await runtime.remove(spec)
  })
})
