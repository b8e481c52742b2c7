import { AppError } from '@sandyard/kit/errors/app-error'
import { flag, parseOptions, value } from '../command-line/parse-options.ts'
import type { Container } from '../containers/container.ts'
import { isRunning } from '../containers/main-process.ts'
import type { Engine } from '../engine.ts'

/** `docker ps -q`: ids, the newest first. */
export async function listContainers({ containers, print }: Engine, args: readonly string[]): Promise<void> {
  const specs = { quiet: flag('-q', '--quiet'), all: flag('-a', '--all'), filter: value('--filter', '-f') }
  const options = parseOptions({ command: 'docker ps', options: specs }, args)
  if (!options.has('quiet')) throw new AppError('unimplemented', 'docker ps: only the list of ids is supported (-q)')
  const filters = options.all('filter').map(toFilter)
  for (const container of await containers.list()) {
    if (!filters.every((matches) => matches(container))) continue
    if (options.has('all') || (await isRunning(container))) print(container.id.slice(0, 12))
  }
}

function toFilter(text: string): (container: Container) => boolean {
  const [, key, label] = /^label=([^=]+)(?:=([\s\S]*))?$/.exec(text) ?? []
  if (key === undefined) throw new AppError('unimplemented', `docker ps: the filter '${text}' is not supported`)
  return ({ config }) => {
    const found = config.Labels?.[key]
    return found !== undefined && (label === undefined || found === label)
  }
}
