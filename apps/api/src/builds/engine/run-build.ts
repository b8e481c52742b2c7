import { isAppError } from '@sandyard/kit/errors/app-error'
import { inSpan } from '@sandyard/kit/tracing/span'
import { DaemonCallError } from '../../daemon/daemon-call-error.ts'
import { BuildFailure } from '../build-failure.ts'
import type { BuildResult } from '../build-plan.ts'
import type { BuildRunner, StepName } from '../build-runner.ts'
import type { Attempt, EngineParts, Progress } from './attempt.ts'
import { buildBase } from './build-base.ts'
import { BuildSandbox } from './build-sandbox.ts'
import { findHit } from './find-hit.ts'
import { finalizeBuild } from './finalize-build.ts'
import { LayerCache } from './layer-cache.ts'
import { layerTitle, planLayers, type Layer } from './layer-plan.ts'
import { runStep } from './run-step.ts'
import { findSourceBuild, type SourceBuild } from './source-build.ts'

/** Runs builds in sandboxes, with one layer for each RUN and COPY (control-plane.md 11). Reuses cached layers. */
export function createBuildRunner(parts: EngineParts): BuildRunner {
  return async (job, signal) => {
    signal.throwIfAborted()
    job.log.write({ level: 'info', message: `Building template ${job.templateId}/${job.buildId}` })
    try {
      await using sandbox = new BuildSandbox(parts, job, signal)
      return await build({ parts, job, signal, sandbox, cache: new LayerCache(parts.database, job.teamId) })
    } catch (err) {
      signal.throwIfAborted()
      throw err
    }
  }
}

async function build(attempt: Attempt): Promise<BuildResult> {
  const { job, parts } = attempt
  const { plan, builderVersion } = job
  const source = plan.source.kind === 'template' ? await findSourceBuild(parts.database.db, plan.source) : undefined
  const layers = planLayers(plan, builderVersion)
  const hit = await findHit(attempt, layers).catch((err: unknown) => {
    throw toFailure(err, 'base')
  })
  const begun = hit === undefined ? beginAt(source) : hit
  for (const layer of layers.slice(0, begun.done))
    job.log.write({ level: 'info', message: `CACHED ${layerTitle(layer)}`, step: layer.step })
  if (hit?.build !== undefined) return hit.build
  return buildRest(attempt, { layers, source, ...begun })
}

interface Rest {
  readonly layers: readonly Layer[]
  readonly source: SourceBuild | undefined
  /** The number of layers that are done already. */
  readonly done: number
  /** Undefined when no layer is done. */
  readonly progress: Progress | undefined
}

async function buildRest(attempt: Attempt, { layers, source, done, progress: begun }: Rest): Promise<BuildResult> {
  let progress = begun
  for (const [at, layer] of layers.entries()) {
    if (at < done) continue
    attempt.signal.throwIfAborted()
    attempt.job.log.write({ level: 'info', message: layerTitle(layer), step: layer.step })
    const request = { layer, previous: layers[at - 1] ?? layer, before: progress, source }
    const made = await inSpan('build step', { 'sandyard.step': layer.step }, () => makeLayer(attempt, request)).catch((err: unknown) => {
      attempt.signal.throwIfAborted()
      throw toFailure(err, layer.step)
    })
    if ('result' in made) return made.result
    progress = made
  }
  throw new Error('the build has no finalize layer')
}

interface LayerRequest {
  readonly layer: Layer
  readonly previous: Layer
  readonly before: Progress | undefined
  readonly source: SourceBuild | undefined
}

async function makeLayer(attempt: Attempt, request: LayerRequest): Promise<Progress | { readonly result: BuildResult }> {
  const { layer, before } = request
  const { work } = layer
  if (work.kind === 'base' && work.source.kind !== 'template') return buildBase(attempt, layer, work.source)
  if (before === undefined) throw new Error(`layer ${layer.step} has no layer below it`)
  if (work.kind === 'step') return runStep(attempt, layer, { work, before })
  if (work.kind === 'finalize') return { result: await finalizeBuild(attempt, { ...request, before }) }
  return before
}

/** A source template is a finished base layer. */
function beginAt(source: SourceBuild | undefined): Pick<Rest, 'done' | 'progress'> {
  if (source === undefined) return { done: 0, progress: undefined }
  return { done: 1, progress: { image: source.image, context: source.context, isAhead: false } }
}

/** Our own texts go to the client; all other errors stay internal. */
function toFailure(err: unknown, step: StepName): unknown {
  const isTold = err instanceof DaemonCallError || (isAppError(err) && err.kind !== 'internal' && err.kind !== 'unknown')
  return isTold ? new BuildFailure(err.message, step, { cause: err }) : err
}
