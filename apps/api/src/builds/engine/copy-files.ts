import { randomId } from '@sandyard/kit/ids/ids'
import { putFile } from '../../daemon/daemon-files.ts'
import { BuildFailure } from '../build-failure.ts'
import { daemonAt, type Progress, type StepRun } from './attempt.ts'
import { runImageTool } from './image-tool.ts'
import type { Instruction } from './instruction.ts'

/** The same as for a RUN: an archive may be large. */
const TIMEOUT_MS = 60 * 60_000
const NAME_LENGTH = 16

/**
 * Sends the archive of a COPY to the sandbox and unpacks it at the destination (control-plane.md 11.5).
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
  // Only root can write there, so a former step cannot have placed a file under this name.
  const archive = `/.sandyard-${randomId(NAME_LENGTH)}.tar`
  await putFile(daemon, archive, { content }, attempt.signal)
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
