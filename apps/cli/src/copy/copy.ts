import type { CliParts } from '../cli-parts.ts'
import { openDaemon } from '../daemon/open-daemon.ts'
import type { Copied } from './copied.ts'
import { download } from './download.ts'
import type { Place } from './sandbox-path.ts'
import { upload } from './upload.ts'

interface Copy {
  readonly source: Place
  readonly target: Place
  readonly user: string | undefined
}

/** Copies between this machine and the sandbox that one of the places is in. @throws CliFailure */
export async function copy(parts: CliParts, { source, target, user }: Copy): Promise<Copied> {
  const paths = { from: source.path, to: target.path }
  if ('sandboxID' in source) return download(parts, await openDaemon(parts, source.sandboxID, user), paths)
  if ('sandboxID' in target) return upload(parts, await openDaemon(parts, target.sandboxID, user), paths)
  throw new Error('neither place is in a sandbox')
}
