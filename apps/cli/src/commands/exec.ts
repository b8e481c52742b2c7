import type { Command } from 'commander'
import type { CliParts } from '../cli-parts.ts'
import type { CommandOptions } from '../daemon/run-command.ts'
import { readPair } from '../sandboxes.ts'

export function registerExec(program: Command, parts: CliParts): void {
  program
    .command('exec')
    .argument('<id>', 'id of the sandbox')
    .argument('<command...>', 'the program and its arguments, after --; no shell reads them')
    .description('run a command in a sandbox: sandyard exec <id> -- ls -l; ends with its exit code')
    .option('-u, --user <user>', 'the user of the command')
    .option('-w, --workdir <path>', 'where it runs')
    .option('-e, --env <key=value>', 'a variable for it; may be repeated', readPair)
    .option('-t, --tty', 'run it on a terminal')
    .option('-n, --no-stdin', 'give it no input')
    .action(async (sandboxID: string, command: string[], options: CommandOptions) => {
      const { runCommand } = await import('../daemon/run-command.ts')
      await runCommand(parts, { sandboxID, command }, options)
    })
}
