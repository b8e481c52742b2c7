import type { Command } from 'commander'
import type { CliParts } from '../cli-parts.ts'
import { getSandbox } from '../sandboxes.ts'
import { agoText, untilText } from '../time-text.ts'

export function registerInfo(program: Command, parts: CliParts): void {
  program
    .command('info')
    .argument('<id>', 'id of the sandbox')
    .description('show one sandbox; its access token is in --json only')
    .action(async (id: string) => {
      const { output, api } = parts
      const sandbox = await getSandbox(api, id)
      const { state, endAt, startedAt, lifecycle, network, metadata = {} } = sandbox
      const isRunning = state === 'running'
      output.result(sandbox, () => {
        output.pairs([
          ['sandbox', sandbox.sandboxID],
          [
            'state',
            sandbox.pauseMode === undefined ? state : `${state} (keeps ${sandbox.pauseMode === 'full' ? 'memory and files' : 'files'})`,
          ],
          ['template', sandbox.alias === undefined ? sandbox.templateID : `${sandbox.alias} (${sandbox.templateID})`],
          ['size', `${sandbox.cpuCount} CPU, ${sandbox.memoryMB} MB memory, ${sandbox.diskSizeMB} MB disk`],
          ['started', `${startedAt} (${agoText(startedAt)})`],
          [isRunning ? 'ends' : 'paused', isRunning ? `${endAt} (in ${untilText(endAt)})` : `${endAt} (${agoText(endAt)})`],
          ['at its end', lifecycle && `${lifecycle.onTimeout}${lifecycle.autoResume ? ', traffic resumes it' : ''}`],
          ['daemon', sandbox.envdVersion],
          ['internet', internetText(sandbox.allowInternetAccess)],
          ['network', network === undefined || Object.keys(network).length === 0 ? undefined : JSON.stringify(network)],
          ...Object.entries(metadata).map(([key, value]) => [`metadata ${key}`, value] as const),
        ])
      })
    })
}

function internetText(allowed: boolean | null | undefined): string | undefined {
  if (allowed === null || allowed === undefined) return undefined
  return allowed ? 'allowed' : 'denied'
}
