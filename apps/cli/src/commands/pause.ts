import type { Command } from 'commander'
import type { CliParts } from '../cli-parts.ts'
import { eachSandbox } from '../each-sandbox.ts'

/** A pause with memory takes as long as the engine needs for it. */
const TIMEOUT_MS = 180_000

export function registerPause(program: Command, parts: CliParts): void {
  program
    .command('pause')
    .argument('<ids...>', 'ids of sandboxes')
    .description('pause sandboxes: they keep memory and files')
    .option('--files-only', 'keep the files only, and free the memory')
    .action(async (ids: string[], { filesOnly }: { filesOnly?: boolean }) => {
      const body = { memory: filesOnly !== true }
      await eachSandbox(parts, { ids, done: 'paused' }, (sandboxID) =>
        parts.api.call('pauseSandbox', { path: { sandboxID }, body, timeoutMs: TIMEOUT_MS }),
      )
    })
}
