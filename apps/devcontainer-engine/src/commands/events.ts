import { setTimeout as delay } from 'node:timers/promises'
import { AppError } from '@sandyard/kit/errors/app-error'
import { parseOptions, value } from '../command-line/parse-options.ts'
import type { Engine } from '../engine.ts'

const POLL_MS = 100
/** The CLI starts this process and `run` side by side, so on a busy machine a start may come first. */
const SLACK_MS = 1000

/** Prints each start of a container since this process began, or shortly before, until its reader is gone. It is how the CLI learns that `run` has started one. */
export async function events({ containers, print }: Engine, args: readonly string[]): Promise<void> {
  const options = parseOptions({ command: 'docker events', options: { format: value('--format'), filter: value('--filter', '-f') } }, args)
  const [filter, ...rest] = options.all('filter')
  if (options.last('format') !== '{{json .}}' || filter !== 'event=start' || rest.length > 0)
    throw new AppError('unimplemented', 'docker events: only --format {{json .}} --filter event=start is supported')
  const parent = process.ppid
  const printed = new Set<string>()
  while (process.ppid === parent) {
    for (const { id, image, config, main } of await containers.list()) {
      const key = `${id} ${main?.startedAt}`
      if (main === undefined || Date.parse(main.startedAt) < performance.timeOrigin - SLACK_MS || printed.has(key)) continue
      printed.add(key)
      print(
        JSON.stringify({
          status: 'start',
          id,
          from: image,
          Type: 'container',
          Action: 'start',
          Actor: { ID: id, Attributes: config.Labels ?? {} },
        }),
      )
    }
    await delay(POLL_MS)
  }
}
