import type { ListedSandbox } from '@sandyard/api-contract/sandboxes/sandbox'
import type { Command } from 'commander'
import type { CliParts } from '../cli-parts.ts'
import { addFilterOptions, listSandboxes, type SandboxFilter } from '../sandboxes.ts'
import { agoText, untilText } from '../time-text.ts'

interface Options extends SandboxFilter {
  readonly quiet?: boolean
}

export function registerLs(program: Command, parts: CliParts): void {
  const command = program.command('ls').description('list the sandboxes of the team, newest first').option('-q, --quiet', 'ids only')
  addFilterOptions(command).action(async ({ quiet, ...filter }: Options) => {
    const { output, api } = parts
    const found = await listSandboxes(api, filter)
    output.result(found, () => {
      if (quiet === true) {
        for (const { sandboxID } of found) output.line(sandboxID)
        return
      }
      output.table(['STATE', 'SANDBOX', 'TEMPLATE', 'CPU', 'MEMORY', 'STARTED', 'ENDS IN', 'METADATA'], found.map(toRow))
      if (found.length === 0) output.say('There are no sandboxes.')
    })
  })
}

function toRow(sandbox: ListedSandbox): (string | number)[] {
  const { state, sandboxID, alias, templateID, cpuCount, memoryMB, startedAt, endAt, metadata = {} } = sandbox
  const pairs = Object.entries(metadata).map(([key, value]) => `${key}=${value}`)
  const endsIn = state === 'running' ? untilText(endAt) : '-'
  return [state, sandboxID, alias ?? templateID, cpuCount, `${memoryMB} MB`, agoText(startedAt), endsIn, pairs.join(' ')]
}
