import type { Command } from 'commander'
import type { CliParts } from '../cli-parts.ts'
import { EXIT } from '../exit-codes.ts'
import { EndWith } from '../fail.ts'
import type { Status } from '../status/read-status.ts'
import { agoText, durationText } from '../time-text.ts'

export function registerStatus(program: Command, parts: CliParts): void {
  program
    .command('status')
    .description('show whether the server runs, and what it has; exit code 5 unless it is ready')
    .action(async () => {
      const { output } = parts
      const { readStatus } = await import('../status/read-status.ts')
      const status = await readStatus(parts)
      output.result(status, () => output.pairs(toPairs(status)))
      for (const problem of status.problems) output.say(`sandyard: ${problem}`)
      if (!status.server.ready) throw new EndWith(EXIT.notReachable)
    })
}

function toPairs({ version, server, sandboxes, templates, lastBackup }: Status): [string, string | number | undefined][] {
  return [
    ['server', `${server.url}: ${stateText(server)}`],
    ['version', server.version],
    ['command line', version],
    ['up for', server.uptimeSeconds === undefined ? undefined : durationText(server.uptimeSeconds)],
    ['database', answerText(server.database)],
    ['engine', answerText(server.engine)],
    ['sandboxes', sandboxes && `${sandboxes.running} running, ${sandboxes.paused} paused`],
    ['templates', templates],
    ['last backup', lastBackup && `${lastBackup.createdAt} (${agoText(lastBackup.createdAt)}) in ${lastBackup.file}`],
  ]
}

function stateText({ reachable, healthy, ready, draining }: Status['server']): string {
  if (!reachable) return 'not reachable'
  if (draining === true) return 'stopping'
  if (ready) return 'ready'
  return healthy ? 'running, not ready' : 'not healthy'
}

function answerText(answers: boolean | undefined): string | undefined {
  if (answers === undefined) return undefined
  return answers ? 'answers' : 'does not answer'
}
