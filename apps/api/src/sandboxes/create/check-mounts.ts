import type { NewSandbox } from '@sandyard/api-contract/sandboxes/new-sandbox'
import type { Db, Tx } from '@sandyard/db/database'
import type { StoredVolumeMount } from '@sandyard/db/schema/sandbox'
import { AppError } from '@sandyard/kit/errors/app-error'
import type { RuntimeCapabilities } from '@sandyard/runtime/types'
import { isOlderVersion } from '../../daemon/daemon-version.ts'
import { isStorable } from '../../text/is-storable.ts'
import { shorten } from '../../text/shorten.ts'
import { isVolumeName } from '../../volumes/volume-name.ts'
import { findVolumesByName, holdVolumes } from '../../volumes/volume-queries.ts'
import { cleanMountPath } from '../start/mount-path.ts'

type Mount = NonNullable<NewSandbox['volumeMounts']>[number]

export interface MountsToCheck {
  readonly teamId: string
  readonly mounts: readonly Mount[]
  /** Of the daemon in the build. */
  readonly envdVersion: string | undefined
  readonly has: Pick<RuntimeCapabilities, 'mounts'>
}

const FIRST_VERSION = '0.5.14'
const MAX_MOUNTS = 16
const MAX_PATH_BYTES = 1024
const MAX_NAME_BYTES = 255
/** What the platform has in a sandbox. A mount at, above or below it would cover it. */
const RESERVED = ['/proc', '/sys', '/dev', '/run/e2b', '/var/run/e2b', '/opt/sandyard']

/** The volumes of a create request. @throws AppError `invalid_argument` with the texts of control-plane.md 6.2.3 */
export async function checkMounts(db: Db, { teamId, mounts, envdVersion, has }: MountsToCheck): Promise<StoredVolumeMount[]> {
  if (mounts.length === 0) return []
  if (!has.mounts) throw refused('Volume mounts are not enabled.')
  if (envdVersion === undefined) throw refused('template must be rebuilt: envd version is not set')
  if (isOlderVersion(envdVersion, FIRST_VERSION)) {
    throw refused(
      `volumes are not supported; template must be rebuilt. Template envd version is ${envdVersion}, must be at least ${FIRST_VERSION}`,
    )
  }
  if (mounts.length > MAX_MOUNTS) throw invalid([[MAX_MOUNTS, `a sandbox has at most ${MAX_MOUNTS} volume mounts`]])
  const names = [...new Set(mounts.map(({ name }) => name).filter(isVolumeName))]
  const ids = new Map((await findVolumesByName(db, teamId, names)).map(({ name, volumeId }) => [name, volumeId]))
  const paths = mounts.map(({ path }) => cleanMountPath(path))
  const problems = mounts.flatMap(({ name, path }, index): [number, string][] => {
    const problem = ids.has(name) ? pathProblem(path, index, paths) : notFound(name)
    return problem === undefined ? [] : [[index, problem]]
  })
  if (problems.length > 0) throw invalid(problems)
  return mounts.map(({ name, path, readOnly }) => ({
    volumeId: ids.get(name) as string,
    name,
    path,
    ...(readOnly === true && { readOnly }),
  }))
}

/** Locks the volumes against their deletion. @throws AppError `invalid_argument` when one was deleted since the check */
export async function holdMounts(tx: Tx, teamId: string, mounts: readonly StoredVolumeMount[]): Promise<void> {
  if (mounts.length === 0) return
  const held = await holdVolumes(tx, teamId, [...new Set(mounts.map(({ volumeId }) => volumeId))])
  const problems = mounts.flatMap(({ volumeId, name }, index): [number, string][] => (held.has(volumeId) ? [] : [[index, notFound(name)]]))
  if (problems.length > 0) throw invalid(problems)
}

/** The first of control-plane.md 6.2.3, then our own. */
function pathProblem(path: string, index: number, paths: readonly string[]): string | undefined {
  const clean = paths[index] ?? ''
  const shown = shorten(path)
  if (path === '') return 'path cannot be empty'
  if (!path.startsWith('/')) return 'path must be absolute'
  if (path.split('/').some((part) => part === '.' || part === '..')) return "path must not contain any '.' or '..' components"
  if (paths.indexOf(clean) < index) return `path '${shown}' is already used`
  if (Buffer.byteLength(path) > MAX_PATH_BYTES) return `path must not have more than ${MAX_PATH_BYTES} bytes`
  if (path.split('/').some((part) => Buffer.byteLength(part) > MAX_NAME_BYTES))
    return `path must not have a name of more than ${MAX_NAME_BYTES} bytes`
  if (!isStorable(path) || /\p{Cc}/u.test(path)) return 'path must not contain control characters or unpaired surrogates'
  if (RESERVED.some((reserved) => isWithin(clean, reserved) || isWithin(reserved, clean))) return `path '${shown}' is reserved`
  if (paths.some((other) => other !== clean && isWithin(clean, other))) return `path '${shown}' is below another mount`
  return undefined
}

function isWithin(path: string, folder: string): boolean {
  return path === folder || folder === '/' || path.startsWith(`${folder}/`)
}

function notFound(name: string): string {
  return `volume '${shorten(name)}' not found`
}

function invalid(problems: readonly (readonly [index: number, reason: string])[]): AppError {
  return refused(`invalid mounts:${problems.map(([index, reason]) => `\n\t- volume mount #${index}: ${reason}`).join('')}`)
}

function refused(message: string): AppError {
  return new AppError('invalid_argument', message)
}
