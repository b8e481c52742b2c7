import type { Template } from '@sandyard/api-contract/templates/template'
import type { CliParts } from '../cli-parts.ts'
import { listKeys } from '../keys/key-queries.ts'
import { listSandboxes } from '../sandboxes.ts'
import type { LiveWanted, Value } from './wanted.ts'

/** The ids and names that a server has now. @throws CliFailure when it cannot be asked */
export async function readLiveValues(parts: CliParts, wanted: LiveWanted): Promise<readonly Value[]> {
  if (wanted.kind === 'keys') {
    const { db } = await parts.database()
    return (await listKeys(db)).map(({ id, name }) => ({ value: id, description: name }))
  }
  if (wanted.kind === 'templates') {
    const templates = await parts.api.listAll<Template>('listTemplatesV2')
    return templates.map(({ templateID, names }) => ({ value: names[0] ?? templateID, description: templateID }))
  }
  const sandboxes = await listSandboxes(parts.api, wanted.state === undefined ? {} : { state: wanted.state })
  return sandboxes.map(({ sandboxID, alias, templateID, state }) => ({ value: sandboxID, description: `${state} ${alias ?? templateID}` }))
}
