import type { ImageFacts } from '@sandyard/runtime/image-store'
import { isAppError } from '@sandyard/kit/errors/app-error'
import { BuildFailure } from '../build-failure.ts'
import { findReadyBuildByTag, findTemplateByAlias } from '../../templates/template-queries.ts'
import type { Attempt } from './attempt.ts'

/** Any image works here; every installation has this template. */
const HELPER_TEMPLATE = 'base'
/** The engine prints this before each instruction. */
const INSTRUCTION = /^Step (\d+)\/\d+ : /

/**
 * Builds a Dockerfile with the network and the limits of the build sandbox. Log lines and failures carry the number of the instruction,
 * from 1.
 *
 * @throws BuildFailure for errors of the Dockerfile; AppError for all others
 */
export async function buildDockerfile({ parts, job, sandbox, signal }: Attempt, dockerfile: string): Promise<ImageFacts> {
  const template = await findTemplateByAlias(parts.database.db, HELPER_TEMPLATE, null)
  const helper = template && (await findReadyBuildByTag(parts.database.db, template.templateId))
  if (helper === undefined) throw new Error('the base template for Dockerfile builds does not exist')
  await sandbox.start(helper.image)
  let step = 'base'
  const onLine = (line: string): void => {
    step = INSTRUCTION.exec(line)?.[1] ?? step
    job.log.write({ level: 'info', message: line, step })
  }
  try {
    return await parts.runtime.images.buildDockerfile({ dockerfile, within: sandbox.ref, force: job.plan.force, onLine }, signal)
  } catch (err) {
    if (isAppError(err, 'failed_precondition')) throw new BuildFailure(err.message, step, { cause: err })
    throw err
  }
}
