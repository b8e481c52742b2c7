import type { Command } from 'commander'
import type { CliParts } from '../cli-parts.ts'

export function registerConnect(program: Command, parts: CliParts): void {
  program
    .command('connect')
    .argument('<id>', 'id of the sandbox')
    .description('open a terminal in a sandbox; ends with the exit code of its shell')
    .option('-u, --user <user>', 'the user of the shell')
    .option('-w, --workdir <path>', 'where it begins')
    .action(async (id: string, options: { user?: string; workdir?: string }) => {
      const { openShell } = await import('../daemon/open-shell.ts')
      await openShell(parts, id, options)
    })
}
