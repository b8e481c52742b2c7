import { countByKey, resealSecrets } from '@sandyard/api/secrets/reseal-secrets'
import { resealWebhooks } from '@sandyard/api/webhooks/reseal-webhooks'
import type { CliParts } from '../cli-parts.ts'
import { EXIT } from '../exit-codes.ts'
import { CliFailure } from '../fail.ts'
import { readKeyRing } from '../read-key-ring.ts'

export async function showKeys(parts: CliParts): Promise<void> {
  const { db } = await parts.database()
  const ring = await readKeyRing(parts.environment, parts.connection.directory)
  const counts = await countByKey(db)
  const known = ring?.keyIds ?? []
  const ids = [...new Set([...known, ...counts.keys()])]
  const keys = ids.map((keyId) => ({ keyId, values: counts.get(keyId) ?? 0, state: stateOf(keyId, known) }))
  const { output } = parts
  output.result(keys, () => {
    output.table(
      ['KEY', 'VALUES', 'STATE'],
      keys.map(({ keyId, values, state }) => [keyId, String(values), state]),
    )
    if (keys.length === 0) output.say('There is no key, and no secret is stored.')
  })
}

function stateOf(keyId: string, [newest, ...former]: readonly string[]): 'newest' | 'former' | 'missing' {
  if (keyId === newest) return 'newest'
  return former.includes(keyId) ? 'former' : 'missing'
}

export async function resealValues(parts: CliParts): Promise<void> {
  const database = await parts.database()
  const ring = await readKeyRing(parts.environment, parts.connection.directory)
  if (ring === undefined) throw new CliFailure(EXIT.usage, 'There is no key: set SANDYARD_SECRETS_KEY as the servers have it.')
  const ofSecrets = await resealSecrets(database, ring, parts.signal)
  const ofWebhooks = await resealWebhooks(database, ring, parts.signal)
  const [resealed, broken] = [ofSecrets.resealed + ofWebhooks.resealed, ofSecrets.broken + ofWebhooks.broken]
  if (broken > 0)
    throw new CliFailure(EXIT.failed, `${broken} values cannot be opened by the key that encrypted them; ${resealed} are encrypted anew.`)
  parts.output.result({ keyId: ring.keyId, resealed }, () => parts.output.line(`${resealed} values are now encrypted with ${ring.keyId}`))
}
