import { type Command, Option } from 'commander'
import type { CliParts } from '../cli-parts.ts'
import { requireApiKey } from '../connection.ts'
import { envLine, type Shell, SHELLS } from '../env-lines.ts'

export function registerEnv(program: Command, parts: CliParts): void {
  program
    .command('env')
    .description('print the settings for an E2B SDK: eval "$(sandyard env)"')
    .addOption(new Option('--shell <shell>', 'the form of the lines').choices(SHELLS).default('sh'))
    .action(({ shell }: { shell: Shell }) => {
      const { output, connection } = parts
      const variables = {
        E2B_API_KEY: requireApiKey(connection).reveal(),
        E2B_API_URL: connection.clients.apiUrl,
        E2B_SANDBOX_URL: connection.clients.sandboxUrl,
      }
      output.result(variables, () => {
        for (const [name, value] of Object.entries(variables)) output.line(envLine(shell, name, value))
      })
    })
}
