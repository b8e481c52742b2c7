import { type Command, Option } from 'commander'
import type { CliParts } from '../cli-parts.ts'
import { clientSettings, envLine, type Shell, SHELLS } from '../env-lines.ts'

export function registerEnv(program: Command, parts: CliParts): void {
  program
    .command('env')
    .description('print the settings for an E2B SDK: eval "$(sandyard env)"')
    .addOption(new Option('--shell <shell>', 'the form of the lines').choices(SHELLS).default('sh'))
    .action(({ shell }: { shell: Shell }) => {
      const { output, connection } = parts
      const settings = clientSettings(connection)
      output.result(settings, () => {
        for (const [name, value] of Object.entries(settings)) output.line(envLine(shell, name, value))
      })
    })
}
