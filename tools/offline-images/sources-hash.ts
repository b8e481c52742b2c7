import { contextHash, readContext } from '../../packages/runtime-docker/src/images/build-context.ts'
import { AUTHORITY_INSTRUCTIONS } from './authority-files.ts'
import type { HostAuthorities } from './host-authorities.ts'
import type { StandIn } from './stand-in.ts'

/** Changes with the recipe, the versions, and the host's own authorities. Empty for an image without a recipe. */
export async function sourcesHash({ image, recipe }: StandIn, authorities: HostAuthorities | undefined): Promise<string> {
  if (typeof recipe === 'string') return ''
  const added = authorities === undefined ? [] : [AUTHORITY_INSTRUCTIONS, ...authorities.extra]
  const parameters = { image, versions: recipe.versions ?? {}, added }
  return contextHash([...(await readContext(recipe.folder)), { name: 'parameters.json', bytes: Buffer.from(JSON.stringify(parameters)) }])
}
