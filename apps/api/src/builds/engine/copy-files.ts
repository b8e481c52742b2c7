import { randomId } from '@sandyard/kit/ids/ids'
import { putFile } from '../../daemon/daemon-files.ts'
import { BuildFailure } from '../build-failure.ts'
import { daemonAt, type Progress } from './attempt.ts'
import { runImageTool } from './image-tool.ts'
import type { Instruction } from './instruction.ts'
import type { StepRun } from './run-step.ts'

/** As for a RUN: an archive may be large. */
const TIMEOUT_MS = 60 * 60_000
const NAME_LENGTH = 16

/**
 * Brings the archive of a COPY into the sandbox and puts its files where they belong (control-plane.md 11.5).
 *
 * @throws BuildFailure
 */
export async function copyFiles(
  run: StepRun,
  before: Progress,
  { args, filesHash }: Extract<Instruction, { type: 'COPY' }>,
): Promise<void> {
  const { attempt, layer, prefix } = run
  const content = await attempt.parts.uploads.open(attempt.job.teamId, filesHash)
  if (content === undefined) throw new BuildFailure(`the files for COPY were not uploaded: ${filesHash}`, layer.step)
  const daemon = await daemonAt(attempt, before).catch((err: unknown) => {
    content.destroy()
    throw err
  })
  // Where only root can write, so nothing that a former step left can stand in its place.
  const archive = `/.sandyard-${randomId(NAME_LENGTH)}.tar`
  await putFile(daemon, archive, content, attempt.signal)
  const { user, workdir } = before.context
  const { maxBytes: maxUnpackedBytes, maxEntries } = attempt.parts.archiveLimits
  await runImageTool(attempt, daemon, {
    command: 'copy',
    args: { archive, ...args, workdir: workdir ?? null, user, maxUnpackedBytes, maxEntries },
    step: layer.step,
    prefix,
    timeoutMs: TIMEOUT_MS,
  })
}
