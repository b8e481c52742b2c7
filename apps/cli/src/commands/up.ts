import type { Command } from 'commander'
import type { CliParts } from '../cli-parts.ts'
import { clientSettings, type ClientSettings, envLine } from '../env-lines.ts'
import { EXIT } from '../exit-codes.ts'
import { CliFailure } from '../fail.ts'
import { readSeconds } from '../sandboxes.ts'

interface Options {
  readonly compose?: boolean
  readonly timeout: number
}

/** The first start installs an engine and makes the base image. */
const DEFAULT_SECONDS = 900

export function registerUp(program: Command, parts: CliParts): void {
  program
    .command('up')
    .description('start the server of this checkout, wait until it is ready and print the settings for an SDK')
    .option('--compose', 'with docker compose')
    .option('--timeout <seconds>', 'how long it may take', readSeconds, DEFAULT_SECONDS)
    .action(({ compose, timeout }: Options) => (compose === true ? upWithCompose(parts, timeout) : up(parts, timeout)))
}

async function up(parts: CliParts, timeout: number): Promise<void> {
  const { findServerPid, serverDirectory } = await import('../server/running-server.ts')
  const { output } = parts
  const directory = serverDirectory(parts)
  const pid = findServerPid(directory)
  if (pid !== undefined) return showRunning(parts, pid)
  const { startServer } = await import('../server/start-server.ts')
  print(parts, await startServer(parts, directory, timeout * 1000))
  output.say(`The server runs; its log is ${directory.serverLog}. \`sandyard down\` stops it.`)
}

/** Its settings too, where they are known: a port of 0 is known to the server only. */
function showRunning(parts: CliParts, pid: number): void {
  parts.output.say(`The server already runs (process ${pid}): \`sandyard status\` shows it.`)
  try {
    print(parts, clientSettings(parts.connection))
  } catch (err) {
    if (!(err instanceof CliFailure) || err.exitCode !== EXIT.usage) throw err
  }
}

async function upWithCompose(parts: CliParts, timeout: number): Promise<void> {
  const { compose } = await import('../server/compose.ts')
  await compose(parts, 'up', '--detach', '--wait', '--wait-timeout', String(timeout))
  print(parts, JSON.parse(await compose(parts, 'exec', '-T', 'api', 'sandyard', 'env', '--json')) as ClientSettings)
}

function print({ output }: CliParts, settings: ClientSettings): void {
  output.result(settings, () => {
    for (const [name, value] of Object.entries(settings)) output.line(envLine('sh', name, value))
  })
}
