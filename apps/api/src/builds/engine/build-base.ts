import type { ImageFacts } from '@sandyard/runtime/image-store'
import type { BuildSource } from '../build-plan.ts'
import { daemonAt, type Attempt, type Progress } from './attempt.ts'
import { buildDockerfile } from './build-dockerfile.ts'
import { runImageTool } from './image-tool.ts'
import type { Layer } from './layer-plan.ts'
import { contextOfImage, DEFAULT_USER } from './step-context.ts'

/** Includes package downloads from a slow mirror. */
const PROVISION_TIMEOUT_MS = 20 * 60_000

/**
 * Pulls or builds an image and provisions it for sandboxes (control-plane.md 11.2).
 *
 * @throws BuildFailure; AppError of `ImageStore`
 */
export async function buildBase(attempt: Attempt, layer: Layer, source: Exclude<BuildSource, { kind: 'template' }>): Promise<Progress> {
  const { job, cache, sandbox } = attempt
  const facts = source.kind === 'image' ? await pull(attempt, source.reference) : await buildDockerfile(attempt, source.text)
  job.log.write({ level: 'info', message: 'Provisioning sandbox template', step: 'base' })
  await sandbox.stop()
  const context = contextOfImage(facts.env, job.builderVersion)
  const daemon = await daemonAt(attempt, facts)
  const args = { user: DEFAULT_USER, installPackages: true }
  await runImageTool(attempt, daemon, { command: 'provision', args, step: 'base', prefix: '[base]', timeoutMs: PROVISION_TIMEOUT_MS })
  const image = await sandbox.capture()
  await cache.keep({ key: layer.key, image, result: { context } }, { replace: !layer.isCacheable })
  return { image, context, isAhead: false }
}

function pull({ parts, job, signal }: Attempt, reference: string): Promise<ImageFacts> {
  const onLine = (line: string): void => job.log.write({ level: 'debug', message: `[base] [stdout]: ${line}`, step: 'base' })
  return parts.runtime.images.pull({ reference, credentials: job.credentials, onLine }, signal)
}
