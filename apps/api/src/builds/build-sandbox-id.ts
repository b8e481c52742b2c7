import { randomId } from '@sandyard/kit/ids/ids'

const RANDOM_LENGTH = 20

/** `b` and 20 characters of `[a-z0-9]`. Never the id of a sandbox that clients see. */
export function newBuildSandboxId(): string {
  return `b${randomId(RANDOM_LENGTH)}`
}
