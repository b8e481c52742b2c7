import { buffer } from 'node:stream/consumers'
import { Readable } from 'node:stream'
import { expect, it } from 'vitest'
import { randomId } from '@sandyard/kit/ids/ids'
import { pack } from 'tar-stream'
import { containerSpec } from '../src/containers/container-spec.ts'
import { startSandbox } from '../src/containers/start-sandbox.ts'
import { readManifest } from '../src/daemon-volume/daemon-dist.ts'
import { DaemonVolume } from '../src/daemon-volume/daemon-volume.ts'
import { EMPTY_IMAGE, ensureEmptyImage } from '../src/engine/empty-image.ts'
import { containerName, networkName } from '../src/labels.ts'
import { SandboxNetwork } from '../src/network/sandbox-network.ts'
import { pauseSandbox } from '../src/pauses/pause-sandbox.ts'
import { resumeSandbox } from '../src/pauses/resume-sandbox.ts'
import { EngineBench, sandboxSpec } from './support/engine-bench.ts'
import { secondEngineIsAbsent, startSecondEngine } from './support/second-engine.ts'

/** The rules are not in force on this engine: its guard image would take a minute, and nothing in the sandbox runs. */
it('a sandbox that was frozen when its engine restarted resumes from its files, and says so', async (context) => {
  const reason = secondEngineIsAbsent()
  if (reason !== undefined) return context.skip(reason)
  await using bench = await EngineBench.open()
  await using engine = await startSecondEngine()
  const { docker } = engine
  await ensureEmptyImage(docker)
  const installation = `test-${randomId(8)}`
  const manifest = await readManifest(bench.dist)
  const volume = new DaemonVolume({ docker, installation, dist: bench.dist, manifest })
  const parts = { docker, network: new SandboxNetwork(docker, installation), volume, egress: undefined, connectsLate: true }
  const spec = sandboxSpec()
  const name = containerName(installation, spec)
  const plan = {
    installation,
    ociRuntime: 'runc',
    pidsLimit: 100,
    diskLimit: false,
    network: networkName(installation),
    resolvers: [],
    writesResolvers: false,
    ipv6Loopback: false,
    maxOpenFiles: undefined,
    seccomp: undefined,
    systemPaths: { masked: [], readOnly: [] },
    daemon: { volume: volume.name, labels: volume.labels, mount: manifest.mount, command: manifest.command },
  }
  await startSandbox(parts, { name, options: containerSpec(plan, spec, EMPTY_IMAGE), policy: spec.egress, signal: undefined })
  const container = docker.getContainer(name)
  const archive = pack()
  archive.entry({ name: 'kept' }, 'the text of the file')
  archive.finalize()
  await container.putArchive(Readable.from(archive), { path: '/' })
  const { State: paused } = await pauseSandbox(parts, { name, keep: 'memory', startedAt: undefined })
  expect(paused.Status).toBe('paused')

  await engine.restart()
  expect((await container.inspect()).State.Status).toBe('exited')
  await expect(pauseSandbox(parts, { name, keep: 'memory', startedAt: undefined })).rejects.toMatchObject({
    kind: 'failed_precondition',
  })
  expect((await pauseSandbox(parts, { name, keep: 'files', startedAt: undefined })).State.Status).toBe('exited')
  const { restored } = await resumeSandbox(parts, {
    name,
    policy: spec.egress,
    keep: 'memory',
    startedAt: paused.StartedAt,
    signal: undefined,
  })
  expect(restored).toBe('files')
  const { State } = await container.inspect()
  expect(State.Status).toBe('running')
  expect((await buffer(await container.getArchive({ path: '/kept' }))).toString()).toContain('the text of the file')
  await container.remove({ force: true, v: true })
}, 300_000)
