import { randomId } from '@sandyard/kit/ids/ids'
import { AppError } from '@sandyard/kit/errors/app-error'

const RANDOM_LENGTH = 20

/** `i` and 20 characters of `[a-z0-9]`; never a hyphen, because host names of sandboxes are split at hyphens (control-plane.md 2.1). */
export function newSandboxId(): string {
  return `i${randomId(RANDOM_LENGTH)}`
}

/**
 * Parses the sandbox id of a path value, which may have the legacy suffix `-<clientID>`.
 *
 * @throws AppError `invalid_argument`
 */
export function parseSandboxId(value: string): string {
  const [id = '', ...rest] = value.split('-')
  if (rest.length > 1 || !/^[a-z0-9]+$/.test(id)) throw new AppError('invalid_argument', 'Invalid sandbox ID')
  return id
}

/** Ids with `b` belong to build sandboxes, which have no row and which clients never see. */
export function isBuildSandboxId(sandboxId: string): boolean {
  return sandboxId.startsWith('b')
}
