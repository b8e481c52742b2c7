import type { AppContext } from '../../context.ts'
import type { BuildParts } from '../build-parts.ts'

/** What the routes hand to the use cases of builds. */
export function buildPartsOf({ database, config, installation }: AppContext): BuildParts {
  return { database, limits: config.builds.templates, tokenSeed: installation.tokenSeed }
}
