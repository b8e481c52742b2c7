import type { Orphan } from '@sandyard/runtime/orphan'
import type { Command } from 'commander'
import type { CliParts } from '../cli-parts.ts'
import { confirm } from '../confirm.ts'
import { describeFailure, EndWith } from '../fail.ts'
import { sizeText } from '../size-text.ts'
import { agoText } from '../time-text.ts'

interface Options {
  readonly dryRun?: boolean
  readonly yes?: boolean
}

export function registerGc(program: Command, parts: CliParts): void {
  program
    .command('gc')
    .description('remove what this installation left on the engine and nothing uses; needs the database and the engine')
    .option('--dry-run', 'only list it')
    .option('--yes', 'do not ask')
    .action((options: Options) => gc(parts, options))
}

async function gc(parts: CliParts, { dryRun, yes }: Options): Promise<void> {
  const { openOrphans } = await import('../gc/open-orphans.ts')
  const orphans = await openOrphans(parts)
  const found = await orphans.find()
  const { output } = parts
  if (dryRun === true || found.length === 0) {
    output.result(found, () => show(parts, found))
    if (found.length === 0) output.say('There is nothing to remove.')
    return
  }
  if (!output.isJson) show(parts, found)
  await confirm(parts, `Remove ${found.length} objects?`, yes)
  // A second look: what has found a use since the first one stays.
  const still = new Set((await orphans.find()).map(({ id }) => id))
  const outcomes: (Orphan & { removed: boolean; error?: string })[] = []
  let exitCode: number | undefined
  for (const orphan of found.filter(({ id }) => still.has(id))) {
    try {
      parts.signal.throwIfAborted()
      await orphans.remove(orphan)
      outcomes.push({ ...orphan, removed: true })
      if (!output.isJson) output.line(`${orphan.kind} ${orphan.name} removed`)
    } catch (err) {
      const ending = describeFailure(err, parts.signal)
      exitCode ??= ending.exitCode
      outcomes.push({ ...orphan, removed: false, error: ending.sentence ?? '' })
      output.say(`sandyard: ${orphan.kind} ${orphan.name}: ${ending.sentence}`)
      if (parts.signal.aborted) break
    }
  }
  if (output.isJson) output.line(JSON.stringify(outcomes, undefined, 2))
  if (exitCode !== undefined) throw new EndWith(exitCode)
}

function show({ output }: CliParts, found: readonly Orphan[]): void {
  output.table(
    ['KIND', 'NAME', 'MADE', 'FREES AT MOST', 'WHY'],
    found.map(({ kind, name, createdAt, sizeBytes, reason }) => [
      kind,
      name,
      agoText(createdAt),
      sizeBytes === undefined ? undefined : sizeText(sizeBytes),
      reason,
    ]),
  )
}
