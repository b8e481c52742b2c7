import type { LogLevel } from '@sandyard/api-contract/builds/build-info'
import { type Command, InvalidArgumentError, Option } from 'commander'
import type { CliParts } from '../cli-parts.ts'
import type { LogOptions } from '../logs/log-line.ts'

interface Options {
  readonly follow?: boolean
  readonly lines: number
  readonly level?: LogLevel
}

const DEFAULT_LINES = 200

export function registerLogs(program: Command, parts: CliParts): void {
  program
    .command('logs')
    .argument('[id]', 'a sandbox, a build, or a template for its newest build; the server when absent')
    .description('show the log of the server on this machine, of a sandbox or of a build')
    .option('-f, --follow', 'go on with new lines; ends with the sandbox or the build')
    .option('-n, --lines <count>', 'how many of the last lines', readCount, DEFAULT_LINES)
    .addOption(new Option('--level <level>', 'least severe level').choices(['debug', 'info', 'warn', 'error']))
    .action(async (id: string | undefined, { follow = false, lines, level }: Options) => {
      const options: LogOptions = { follow, lines, ...(level !== undefined && { level }) }
      const { showLog } = await import('../logs/show-log.ts')
      await showLog(parts, id, options)
    })
}

function readCount(text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new InvalidArgumentError('It must be a whole number.')
  return Number(text)
}
