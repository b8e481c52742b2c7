import type { Command } from 'commander'
import type { CliParts } from '../cli-parts.ts'
import { confirm } from '../confirm.ts'
import { eachSandbox } from '../each-sandbox.ts'
import { listSandboxes, readSeconds } from '../sandboxes.ts'

interface Options {
  readonly compose?: boolean
  readonly kill?: boolean
  readonly timeout: number
  readonly yes?: boolean
}

/** The drain of the requests in flight, and the end of the parts. */
const DEFAULT_SECONDS = 120

export function registerDown(program: Command, parts: CliParts): void {
  program
    .command('down')
    .description('stop the server of this checkout in order; sandboxes stay')
    .option('--compose', 'with docker compose')
    .option('--kill', 'kill the sandboxes of the team first; asks')
    .option('--yes', 'do not ask')
    .option('--timeout <seconds>', 'how long it may take', readSeconds, DEFAULT_SECONDS)
    .action((options: Options) => down(parts, options))
}

async function down(parts: CliParts, { compose: isCompose, kill, timeout, yes }: Options): Promise<void> {
  const { findServerPid, serverDirectory } = await import('../server/running-server.ts')
  const { output, signal } = parts
  if (kill === true) {
    if (isCompose !== true) {
      const { assertOwnApi } = await import('../server/assert-own-api.ts')
      await assertOwnApi(parts, serverDirectory(parts))
    }
    await killAll(parts, yes)
  }
  if (isCompose === true) {
    const { compose } = await import('../server/compose.ts')
    await compose(parts, 'down', '--timeout', String(timeout))
    return
  }
  const directory = serverDirectory(parts)
  const pid = findServerPid(directory)
  if (pid === undefined) return output.say(`No server runs with the data in ${directory.path}.`)
  const { stopServer } = await import('../server/stop-server.ts')
  await stopServer(directory, pid, { timeoutMs: timeout * 1000, signal })
  output.say('The server has stopped.')
}

async function killAll(parts: CliParts, yes: boolean | undefined): Promise<void> {
  const ids = (await listSandboxes(parts.api)).map(({ sandboxID }) => sandboxID)
  if (ids.length === 0) return
  await confirm(parts, `Kill ${ids.length} sandboxes of ${parts.connection.apiUrl} with their files?`, yes)
  await eachSandbox(parts, { ids, done: 'killed' }, (sandboxID) => parts.api.call('killSandbox', { path: { sandboxID } }))
}
