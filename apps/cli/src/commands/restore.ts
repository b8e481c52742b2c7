import type { Command } from 'commander'
import type { RestoreOptions } from '../backup/run-restore.ts'
import { PASSPHRASE_OPTION } from '../backup/passphrase.ts'
import type { CliParts } from '../cli-parts.ts'

export function registerRestore(program: Command, parts: CliParts): void {
  program
    .command('restore')
    .argument('<file>', 'a backup')
    .description('bring a backup back into an empty database; no server may run')
    .option('--no-images', 'leave the images in the archive: templates must be built again, and paused sandboxes end')
    .option('--replace', 'remove what the database has now; asks first')
    .option('--yes', 'do not ask')
    .option(...PASSPHRASE_OPTION)
    .action(async (file: string, options: RestoreOptions) => {
      const { runRestore } = await import('../backup/run-restore.ts')
      await runRestore(parts, file, options)
    })
}
