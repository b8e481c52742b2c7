import type { Database } from '@sandyard/db/database'
import type { Secret } from '@sandyard/kit/config/secret'
import type { TemplateLimits } from './build-config.ts'

/** What registering and starting builds takes. */
export interface BuildParts {
  readonly database: Database
  readonly limits: TemplateLimits
  /** Registry credentials are sealed with it. */
  readonly tokenSeed: Secret
}
