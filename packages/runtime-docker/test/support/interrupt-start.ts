/**
 * A program for namespaces of its own (`inOwnNamespaces`): kills an engine in the middle of starts of one paused sandbox, until it refuses every further
 * start, resumes the sandbox, and does so once more. Prints a line of JSON, `InterruptedStart[]`.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { buffer } from 'node:stream/consumers'
import { Readable } from 'node:stream'
import { pollUntil } from '@sandyard/kit/async/poll-until'
import { pack } from 'tar-stream'
import type { SandboxSpec } from '@sandyard/runtime/types'
import { pauseSandbox } from '../../src/pauses/pause-sandbox.ts'
import { resumeSandbox } from '../../src/pauses/resume-sandbox.ts'
import { openBareSandboxes, type BareSandboxes } from './bare-sandboxes.ts'
import { EngineBench, sandboxSpec } from './engine-bench.ts'
import { startSecondEngine, type SecondEngine } from './second-engine.ts'

export interface InterruptedStart {
  /** Why the engine refused to start the container. */
  readonly refusal: string
  readonly restored: string
  readonly status: string
  /** The files that were written before the starts, and between them. */
  readonly files: readonly string[]
  readonly containers: number
  /** Names of images of removed things, and images without a name. */
  readonly images: readonly string[]
}

const MOST_TRIES = 20

async function interruptStarts(): Promise<InterruptedStart[]> {
  await using bench = await EngineBench.open()
  await using engine = await startSecondEngine()
  const sandboxes = await openBareSandboxes(bench, engine.docker)
  const spec = sandboxSpec()
  await sandboxes.start(spec)
  const results: InterruptedStart[] = []
  for (const file of ['first', 'second']) {
    await putFile(engine, sandboxes.nameOf(spec), file)
    const { State } = await pauseSandbox(sandboxes.parts, { name: sandboxes.nameOf(spec), keep: 'files', startedAt: undefined })
    const refusal = await interruptUntilRefused(engine, sandboxes.nameOf(spec))
    results.push({ refusal, ...(await resume(engine, sandboxes, { spec, startedAt: State.StartedAt })) })
  }
  return results
}

/** @throws Error when the engine starts the container again each time */
async function interruptUntilRefused(engine: SecondEngine, name: string): Promise<string> {
  const { Id } = await engine.docker.getContainer(name).inspect()
  for (let tries = 0; tries < MOST_TRIES; tries += 1) {
    let hasEnded = false
    const start = startOf(engine, Id).finally(() => (hasEnded = true))
    // A start that has ended already, as one that is refused at once, has no process to wait for.
    await pollUntil({ what: 'the process of the start', timeoutMs: 30_000, everyMs: 1 }, () => hasShim(Id) || hasEnded || undefined)
    await engine.kill()
    await start
    await engine.restart()
    const refusal = await startOf(engine, Id)
    if (refusal !== undefined && !refusal.includes('container already started')) return refusal.replaceAll(Id, 'id').trim()
    await engine.docker.getContainer(Id).kill()
    // The process of this start would count for the next one.
    await engine.docker.getContainer(Id).wait({ condition: 'not-running' })
  }
  throw new Error('the engine started the container after each kill')
}

/** Why the engine refuses the start; undefined when the container runs. */
function startOf({ docker }: SecondEngine, id: string): Promise<string | undefined> {
  return docker
    .getContainer(id)
    .start()
    .then(
      () => undefined,
      (err: unknown) => (err instanceof Error ? err.message : String(err)),
    )
}

/** Whether the process that containerd starts for a container is there. */
function hasShim(id: string): boolean {
  return readdirSync('/proc')
    .filter((entry) => /^\d+$/.test(entry))
    .some((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(`-id\0${id}\0`)
      } catch {
        return false
      }
    })
}

async function resume(
  { docker }: SecondEngine,
  sandboxes: BareSandboxes,
  { spec, startedAt }: { readonly spec: SandboxSpec; readonly startedAt: string },
): Promise<Omit<InterruptedStart, 'refusal'>> {
  const name = sandboxes.nameOf(spec)
  const request = {
    name,
    policy: spec.egress,
    keep: 'memory',
    startedAt,
    signal: undefined,
    replacement: sandboxes.replacement(spec),
  } as const
  const { restored } = await resumeSandbox(sandboxes.parts, request)
  const container = docker.getContainer(name)
  const files: string[] = []
  for (const file of ['first', 'second']) {
    const archive = await container.getArchive({ path: `/${file}` }).catch(() => undefined)
    if (archive !== undefined && (await buffer(archive)).includes(`the text of ${file}`)) files.push(file)
  }
  const label = [`sandyard.installation=${sandboxes.installation}`]
  const containers = await docker.listContainers({ all: true, filters: JSON.stringify({ label: [...label, 'sandyard.role=sandbox'] }) })
  const images = await docker.listImages({ filters: JSON.stringify({ label }) })
  return {
    restored,
    status: (await container.inspect()).State.Status,
    files,
    containers: containers.length,
    images: images.flatMap(({ RepoTags }) => RepoTags ?? ['none']).map((image) => image.replace(/-test-.*/, '')),
  }
}

async function putFile({ docker }: SecondEngine, name: string, file: string): Promise<void> {
  const archive = pack()
  archive.entry({ name: file }, `the text of ${file}`)
  archive.finalize()
  await docker.getContainer(name).putArchive(Readable.from(archive), { path: '/' })
}

process.stdout.write(`${JSON.stringify(await interruptStarts())}\n`)
