import type { Command } from 'commander'
import type { BackupOptions } from '../backup/run-backup.ts'
import { PASSPHRASE_OPTION } from '../backup/passphrase.ts'
import type { CliParts } from '../cli-parts.ts'

export function registerBackup(program: Command, parts: CliParts): void {
  program
    .command('backup')
    .argument('<file>', 'the archive to write; replaced when the backup is complete')
    .description('write everything that a restore needs into one file; servers may run meanwhile')
    .option('--no-images', 'leave out the images of templates and snapshots and the files of paused sandboxes')
    .option(...PASSPHRASE_OPTION)
    .action(async (file: string, options: BackupOptions) => {
      const { runBackup } = await import('../backup/run-backup.ts')
      await runBackup(parts, file, options)
    })
}
