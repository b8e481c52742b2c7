import { Type } from 'typebox'
import type { AppContext } from '../../context.ts'
import type { BuildParts } from '../build-parts.ts'

/** The use cases check these: their error texts differ from those of schema validation. */
export const BuildParams = Type.Object({ templateID: Type.String(), buildID: Type.String() })

/** The parts that build routes pass to the use cases. */
export function buildPartsOf({ database, config, installation }: AppContext): BuildParts {
  return { database, limits: config.builds.templates, tokenSeed: installation.tokenSeed }
}
