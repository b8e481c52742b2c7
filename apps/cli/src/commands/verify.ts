import type { Command } from 'commander'
import type { VerifyOptions } from '../backup/run-verify.ts'
import { PASSPHRASE_OPTION } from '../backup/passphrase.ts'
import type { CliParts } from '../cli-parts.ts'

export function registerVerify(program: Command, parts: CliParts): void {
  program
    .command('verify')
    .argument('<file>', 'a backup')
    .description('check the sums of a backup and load its tables into a scratch database, which is dropped')
    .option('--sums-only', 'do not load the tables')
    .option(...PASSPHRASE_OPTION)
    .action(async (file: string, options: VerifyOptions) => {
      const { runVerify } = await import('../backup/run-verify.ts')
      await runVerify(parts, file, options)
    })
}
