import { spawnSync } from 'node:child_process'
import { buffer } from 'node:stream/consumers'
import { Readable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { inOwnNamespaces } from '@sandyard/test-kit/own-namespaces'
import { expect, it } from 'vitest'
import { pack } from 'tar-stream'
import { pauseSandbox } from '../src/pauses/pause-sandbox.ts'
import { resumeSandbox } from '../src/pauses/resume-sandbox.ts'
import { openBareSandboxes } from './support/bare-sandboxes.ts'
import { EngineBench, sandboxSpec } from './support/engine-bench.ts'
import type { ReusedAddress } from './support/reuse-address.ts'
import { secondEngineIsAbsent, startSecondEngine } from './support/second-engine.ts'

/** The rules are not in force on this engine: its guard image would take a minute, and nothing in the sandbox runs. */
it('a sandbox that was frozen when its engine restarted resumes from its files, and says so', async (context) => {
  const reason = secondEngineIsAbsent()
  if (reason !== undefined) return context.skip(reason)
  await using bench = await EngineBench.open()
  await using engine = await startSecondEngine()
  const { docker } = engine
  const sandboxes = await openBareSandboxes(bench, docker)
  const { parts } = sandboxes
  const spec = sandboxSpec()
  const name = sandboxes.nameOf(spec)
  await sandboxes.start(spec)
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
    replacement: sandboxes.replacement(spec),
  })
  expect(restored).toBe('files')
  const { State } = await container.inspect()
  expect(State.Status).toBe('running')
  expect((await buffer(await container.getArchive({ path: '/kept' }))).toString()).toContain('the text of the file')
  await container.remove({ force: true, v: true })
}, 300_000)

/** Its registration is that of the other one, which would be unreachable until the next repair. */
it('a sandbox that has ended with its killed engine does not give up its address, which another one has by now', (context) => {
  const reason = secondEngineIsAbsent()
  if (reason !== undefined) return context.skip(reason)
  const [program, ...args] = inOwnNamespaces([process.execPath, fileURLToPath(import.meta.resolve('./support/reuse-address.ts'))])
  const { stdout, stderr } = spawnSync(program, args, { encoding: 'utf8', timeout: 240_000 })
  expect(stdout, stderr).not.toBe('')
  const { former, next, leftByFormer, leftByNext } = JSON.parse(stdout) as ReusedAddress
  expect(former).toBe(next)
  expect(leftByFormer).toEqual([])
  expect(leftByNext).toEqual([next])
}, 300_000)
