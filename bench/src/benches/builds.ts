import { randomUUID } from 'node:crypto'
import { dockerBuild, removeImage } from '../docker-build.ts'
import type { Comparison } from '../report.ts'
import { interleave, timeMs, type Samples } from '../samples.ts'
import type { Settings } from '../settings.ts'
import { buildTemplate, removeTemplate } from '../template-build.ts'

const IMAGE = 'debian:bookworm-slim'
const STEPS = 10
const AT_ONCE = 4

/** One way to build `commands`, under its own name. */
type Build = (name: string, commands: readonly string[]) => Promise<unknown>

/** The images and templates of both sides, which are removed after the measurement. */
interface Made {
  readonly templates: Set<string>
  readonly images: Set<string>
}

/** Builds through the API until they are ready, against `docker build` of the same steps. */
export async function benchBuilds(settings: Settings): Promise<Comparison[]> {
  const made: Made = { templates: new Set(), images: new Set() }
  const ours: Build = async (name, commands) => made.templates.add(await buildTemplate(settings, name, { fromImage: IMAGE }, commands))
  const docker: Build = async (_, commands) => made.images.add(await dockerBuild(IMAGE, commands))
  try {
    const unchanged = await measure(
      ours,
      docker,
      { times: 10, warmUps: 1 },
      builder(() => 'same'),
    )
    const lastStep = await measure(
      ours,
      docker,
      { times: 8, warmUps: 1 },
      builder((step) => (step === STEPS ? randomUUID() : 'same')),
    )
    const atOnce = await measure(ours, docker, { times: 3, warmUps: 0 }, severalAtOnce)
    return [
      { what: `build of ${STEPS} steps, unchanged, until it is ready`, ...unchanged, goal: { of: 'ours', at: ['p50'], atMost: 1000 } },
      { what: `build of ${STEPS} steps, the last one changed`, ...lastStep },
      { what: `${AT_ONCE} builds of ${STEPS} new steps at once, until all are ready`, ...atOnce },
    ]
  } finally {
    for (const id of made.templates) await removeTemplate(settings, id)
    for (const id of made.images) await removeImage(id)
  }
}

const RUN = randomUUID().slice(0, 8)

/** Ten commands that create a small file each; `say` returns the content. */
function commands(say: (step: number) => string): string[] {
  return Array.from({ length: STEPS }, (_, index) => `mkdir -p /srv/bench && echo ${RUN}-${say(index + 1)} > /srv/bench/${index + 1}`)
}

function builder(say: (step: number) => string): (build: Build) => Promise<unknown> {
  return (build) => build(`bench-${RUN}`, commands(say))
}

async function severalAtOnce(build: Build): Promise<void> {
  const names = Array.from({ length: AT_ONCE }, (_, index) => `bench-${RUN}-${index}`)
  await Promise.all(
    names.map((name) => {
      const word = randomUUID()
      return build(
        name,
        commands(() => word),
      )
    }),
  )
}

async function measure(
  ours: Build,
  docker: Build,
  times: { readonly times: number; readonly warmUps: number },
  work: (build: Build) => Promise<unknown>,
): Promise<Pick<Comparison, 'unit' | 'ours' | 'against'>> {
  const samples: Record<'ours' | 'docker', Samples> = await interleave(times, {
    ours: () => timeMs(() => work(ours)),
    docker: () => timeMs(() => work(docker)),
  })
  return { unit: 'ms', ours: samples.ours, against: { name: 'docker build', samples: samples.docker } }
}
