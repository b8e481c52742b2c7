import { Type } from 'typebox'
import type { AppContext } from '../../context.ts'
import type { BuildParts } from '../build-parts.ts'

/** The use cases check these: their error texts differ from those of schema validation. */
export const BuildParams = Type.Object({ templateID: Type.String(), buildID: Type.String() })

/** A 202 without a body: clients read only the status (control-plane.md 10.5). */
export const Accepted = Type.Unsafe<undefined>({ type: 'null', description: 'The build was started' })

/** The parts that build routes pass to the use cases. */
export function buildPartsOf({ database, config, installation }: AppContext): BuildParts {
  return { database, limits: config.builds.templates, tokenSeed: installation.tokenSeed }
}
