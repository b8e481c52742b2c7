import type { Database } from '@sandyard/db/database'
import type { Secret } from '@sandyard/kit/config/secret'
import type { TemplateLimits } from './build-config.ts'

/** What the operations that register and start builds need. */
export interface BuildParts {
  readonly database: Database
  readonly limits: TemplateLimits
  /** Encrypts registry credentials. */
  readonly tokenSeed: Secret
}
