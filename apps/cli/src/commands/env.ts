import { Option, type Command } from 'commander'
import type { CliParts } from '../cli-parts.ts'
import { requireApiKey } from '../connection.ts'

type Shell = 'sh' | 'fish' | 'powershell' | 'dotenv'

/** How a shell sets a variable for the programs that it starts. */
const LINE: Readonly<Record<Shell, (name: string, value: string) => string>> = {
  sh: (name, value) => `export ${name}=${quoteSh(value)}`,
  fish: (name, value) => `set -gx ${name} '${value.replaceAll(/['\\]/g, String.raw`\$&`)}'`,
  powershell: (name, value) => `$env:${name} = '${value.replaceAll("'", "''")}'`,
  dotenv: (name, value) => `${name}=${/^[\w:/.@%-]*$/.test(value) ? value : `"${value.replaceAll(/["\\$]/g, String.raw`\$&`)}"`}`,
}

export function registerEnv(program: Command, parts: CliParts): void {
  program
    .command('env')
    .description('print the settings for an E2B SDK: eval "$(sandyard env)"')
    .addOption(new Option('--shell <shell>', 'the form of the lines').choices(Object.keys(LINE)).default('sh'))
    .action(({ shell }: { shell: Shell }) => {
      const { output, connection } = parts
      const variables = {
        E2B_API_KEY: requireApiKey(connection).reveal(),
        E2B_API_URL: connection.publicApiUrl,
        E2B_SANDBOX_URL: connection.sandboxUrl,
      }
      output.result(variables, () => {
        for (const [name, value] of Object.entries(variables)) output.line(LINE[shell](name, value))
      })
    })
}

/** A plain value stays as it is, so that the line reads like the one that `npm start` prints. */
function quoteSh(value: string): string {
  return /^[\w:/.@%-]+$/.test(value) ? value : `'${value.replaceAll("'", String.raw`'\''`)}'`
}
