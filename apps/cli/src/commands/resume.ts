import type { Command } from 'commander'
import type { CliParts } from '../cli-parts.ts'
import { eachSandbox } from '../each-sandbox.ts'
import { readSeconds } from '../sandboxes.ts'

const TIMEOUT_MS = 180_000

export function registerResume(program: Command, parts: CliParts): void {
  program
    .command('resume')
    .argument('<ids...>', 'ids of sandboxes')
    .description('resume paused sandboxes; running ones get the timeout if it ends later')
    .option('--timeout <seconds>', 'how long they live at least', readSeconds)
    .action(async (ids: string[], { timeout }: { timeout?: number }) => {
      const body = timeout === undefined ? {} : { timeout }
      await eachSandbox(parts, { ids, done: 'running' }, (sandboxID) =>
        parts.api.call('connectSandboxV2', { path: { sandboxID }, body, timeoutMs: TIMEOUT_MS }),
      )
    })
}
