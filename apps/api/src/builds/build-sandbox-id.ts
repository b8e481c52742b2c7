import { randomId } from '@sandyard/kit/ids/ids'

const RANDOM_LENGTH = 20

/** `b` and 20 characters of `[a-z0-9]`: never the id of a sandbox that anyone is told of. */
export function newBuildSandboxId(): string {
  return `b${randomId(RANDOM_LENGTH)}`
}

/** Sandboxes with such an id belong to builds, which have no row of a sandbox. */
export function isBuildSandboxId(sandboxId: string): boolean {
  return sandboxId.startsWith('b')
}
