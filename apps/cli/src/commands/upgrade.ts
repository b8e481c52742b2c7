import type { Command } from 'commander'
import type { CliParts } from '../cli-parts.ts'

export function registerUpgrade(program: Command, parts: CliParts): void {
  program
    .command('upgrade')
    .description('show what a start of this release does with the database; docs/upgrading.md has the steps of an upgrade')
    .requiredOption('--check', 'read only: versions, migrations that would run, and whether a backup is recent')
    .action(async () => {
      const { runUpgradeCheck } = await import('../upgrade/run-upgrade-check.ts')
      await runUpgradeCheck(parts)
    })
}
