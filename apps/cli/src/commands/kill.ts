import type { Command } from 'commander'
import type { CliParts } from '../cli-parts.ts'
import { confirm } from '../confirm.ts'
import { eachSandbox } from '../each-sandbox.ts'
import { addFilterOptions, listSandboxes, type SandboxFilter } from '../sandboxes.ts'

interface Options extends SandboxFilter {
  readonly all?: boolean
  readonly yes?: boolean
}

export function registerKill(program: Command, parts: CliParts): void {
  const command = program
    .command('kill')
    .argument('[ids...]', 'ids of sandboxes')
    .description('end sandboxes for good, with their files')
    .option('--all', 'all sandboxes of the team that match the filters; asks first')
    .option('--yes', 'do not ask')
  addFilterOptions(command).action(async (ids: string[], { all, yes, ...filter }: Options) => {
    const hasFilter = Object.keys(filter).length > 0
    if ((all === true) === ids.length > 0) command.error('error: name the sandboxes, or select them with --all')
    if (hasFilter && all !== true) command.error('error: filters need --all')
    await eachSandbox(parts, { ids: all === true ? await select(parts, filter, yes) : ids, done: 'killed' }, (sandboxID) =>
      parts.api.call('killSandbox', { path: { sandboxID } }),
    )
  })
}

async function select(parts: CliParts, filter: SandboxFilter, yes: boolean | undefined): Promise<string[]> {
  const ids = (await listSandboxes(parts.api, filter)).map(({ sandboxID }) => sandboxID)
  if (ids.length === 0) parts.output.say('No sandbox matches.')
  else await confirm(parts, `Kill ${ids.length} sandboxes with their files?`, yes)
  return ids
}
