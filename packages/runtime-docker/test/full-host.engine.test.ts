import { randomBytes } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { rmdir } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import type Docker from 'dockerode'
import { randomId } from '@sandyard/kit/ids/ids'
import { pollUntil } from '@sandyard/kit/async/poll-until'
import { pack } from 'tar-stream'
import { expect, it } from 'vitest'
import { engineCall } from '../src/engine/docker-errors.ts'
import { openBareSandboxes } from './support/bare-sandboxes.ts'
import { EngineBench, sandboxSpec } from './support/engine-bench.ts'
import { secondEngineIsAbsent, startSecondEngine } from './support/second-engine.ts'

const MIB = 1024 ** 2
const PAGE_BYTES = 4096
const DISK_MIB = 320

const FULL = { kind: 'insufficient_storage', message: 'The disk of the Docker engine is full.' }

/** Writes files into a container, half as large when one does not fit, until no page is left. */
async function fillDisk(docker: Docker, name: string): Promise<void> {
  for (let [bytes, count] = [64 * MIB, 0]; bytes >= PAGE_BYTES; count += 1) {
    const archive = pack()
    archive.entry({ name: `ballast-${count}` }, randomBytes(bytes))
    archive.finalize()
    const put = (): Promise<unknown> => docker.getContainer(name).putArchive(Readable.from(archive), { path: '/' })
    const failure = await engineCall('The file could not be written.', put).then(
      () => undefined,
      (err: unknown) => err,
    )
    if (failure === undefined) continue
    expect(failure).toMatchObject(FULL)
    bytes /= 2
  }
}

const names = async (docker: Docker): Promise<string[]> =>
  (await docker.listContainers({ all: true }))
    .flatMap(({ Names }) => Names.map((name) => name.slice(1)))
    .toSorted((a, b) => a.localeCompare(b))

it('an engine whose disk is full says so, ends nothing that runs, leaves nothing, and starts sandboxes again when it has room', async (context) => {
  const reason = secondEngineIsAbsent()
  if (reason !== undefined) return context.skip(reason)
  await using bench = await EngineBench.open()
  await using engine = await startSecondEngine([], DISK_MIB)
  const { docker } = engine
  const sandboxes = await openBareSandboxes(bench, docker)
  const [kept, ballast, refused] = [sandboxSpec(), sandboxSpec(), sandboxSpec()]
  await sandboxes.start(kept)
  await sandboxes.start(ballast)
  await fillDisk(docker, sandboxes.nameOf(ballast))
  await expect(sandboxes.start(refused)).rejects.toMatchObject(FULL)
  expect((await docker.getContainer(sandboxes.nameOf(kept)).inspect()).State.Running).toBe(true)
  expect(await names(docker)).toEqual([sandboxes.nameOf(kept), sandboxes.nameOf(ballast)].toSorted((a, b) => a.localeCompare(b)))
  await docker.getContainer(sandboxes.nameOf(ballast)).remove({ force: true, v: true })
  await sandboxes.start(refused)
  expect((await docker.getContainer(sandboxes.nameOf(refused)).inspect()).State.Running).toBe(true)
  for (const name of await names(docker)) await docker.getContainer(name).remove({ force: true, v: true })
}, 300_000)

/** The folder of a control group for processes, where this machine has one that a test may use. */
function pidsGroup(name: string): string | undefined {
  for (const root of ['/sys/fs/cgroup/pids', '/sys/fs/cgroup']) {
    if (existsSync(`${root}/cgroup.procs`) && (root.endsWith('pids') || existsSync(`${root}/cgroup.controllers`))) return `${root}/${name}`
  }
  return undefined
}

/** The engine leaves its group in every hierarchy. */
async function removeGroup(name: string): Promise<void> {
  const folders = ['', ...readdirSync('/sys/fs/cgroup')].map((hierarchy) => join('/sys/fs/cgroup', hierarchy, name))
  for (const folder of folders) await rmdir(folder).catch(() => undefined)
}

/** The content of a file that has been the same for a while: the daemon of a sandbox makes threads while it boots. */
async function untilSteady(file: string): Promise<string> {
  let [last, times] = ['', 0]
  return pollUntil({ what: 'a steady number of processes', timeoutMs: 60_000, everyMs: 100 }, () => {
    const now = readFileSync(file, 'utf8')
    times = now === last ? times + 1 : 0
    last = now
    return times >= 10 ? now : undefined
  })
}

it('a host whose process table is full says that it has no room, and starts sandboxes again when it has', async (context) => {
  const group = `sandyard-test-${randomId(8)}`
  const folder = pidsGroup(group)
  const reason = folder === undefined ? 'absent here: control groups for processes' : secondEngineIsAbsent()
  if (reason !== undefined || folder === undefined) return context.skip(reason)
  await using stack = new AsyncDisposableStack()
  stack.defer(() => removeGroup(group))
  const bench = stack.use(await EngineBench.open())
  const engine = stack.use(await startSecondEngine([`--cgroup-parent=/${group}`]))
  const { docker } = engine
  const sandboxes = await openBareSandboxes(bench, docker)
  const [kept, refused] = [sandboxSpec(), sandboxSpec()]
  await sandboxes.start(kept)
  const limit = `${folder}/pids.max`
  writeFileSync(limit, await untilSteady(`${folder}/pids.current`))
  await expect(sandboxes.start(refused)).rejects.toMatchObject({
    kind: 'resource_exhausted',
    message: 'The host has no room for another sandbox.',
  })
  expect(await names(docker)).toEqual([sandboxes.nameOf(kept)])
  expect((await docker.getContainer(sandboxes.nameOf(kept)).inspect()).State.Running).toBe(true)
  writeFileSync(limit, 'max')
  await sandboxes.start(refused)
  for (const name of await names(docker)) await docker.getContainer(name).remove({ force: true, v: true })
}, 300_000)
