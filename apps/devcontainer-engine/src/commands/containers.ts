import { flag, parseOptions, value } from '../command-line/parse-options.ts'
import { AppError } from '@sandyard/kit/errors/app-error'
import { isRunning, stopAll } from '../containers/main-process.ts'
import { startContainer } from '../containers/start-container.ts'
import type { Engine } from '../engine.ts'
import { withLock } from '../work/lock.ts'

export async function start(engine: Engine, args: readonly string[]): Promise<void> {
  for (const word of parseOptions({ command: 'docker start', options: {} }, args).words) {
    const child = await startContainer(engine, (await engine.containers.get(word)).id)
    child?.unref()
    engine.print(word)
  }
}

export async function stop({ containers, print }: Engine, args: readonly string[]): Promise<void> {
  const options = parseOptions({ command: 'docker stop', options: { time: value('-t', '--time', '--timeout') } }, args)
  const seconds = Number(options.last('time') ?? 10)
  if (!Number.isInteger(seconds) || seconds < 0 || seconds > 3600)
    throw new AppError('invalid_argument', 'docker stop: the time is a number of seconds up to 3600')
  for (const word of options.words) {
    const { id } = await containers.get(word)
    await withLock(`dev container ${id.slice(0, 12)}`, async () => stopAll(await containers.get(id), seconds * 1000))
    print(word)
  }
}

/** Volumes stay. */
export async function remove({ containers, print }: Engine, args: readonly string[]): Promise<void> {
  const options = parseOptions({ command: 'docker rm', options: { force: flag('-f', '--force') } }, args)
  for (const word of options.words) {
    const { id } = await containers.get(word)
    await withLock(`dev container ${id.slice(0, 12)}`, async () => {
      const container = await containers.get(id)
      if (!options.has('force') && (await isRunning(container)))
        throw new AppError('failed_precondition', `docker rm: ${word} runs: stop it first, or use -f`)
      await stopAll(container, 0)
      await containers.remove(id)
    })
    print(word)
  }
}
