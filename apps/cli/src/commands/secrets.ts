import type { Command } from 'commander'
import type { CliParts } from '../cli-parts.ts'

const load = () => import('../secrets/reseal-values.ts')

/** The key that encrypts the values of secrets. The values themselves are never shown. */
export function registerSecrets(program: Command, parts: CliParts): void {
  const secrets = program
    .command('secrets')
    .description('the keys that encrypt secrets and the signing secrets of webhooks; needs the database and the keys of the server')
  secrets
    .command('status')
    .description('how many stored values each key has encrypted, and whether it is in the settings')
    .action(async () => (await load()).showKeys(parts))
  secrets
    .command('rotate')
    .description('encrypt all values of former keys with SANDYARD_SECRETS_KEY; servers do so too, every five minutes')
    .action(async () => (await load()).resealValues(parts))
}
