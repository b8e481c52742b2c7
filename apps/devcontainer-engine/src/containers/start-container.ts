import type { ChildProcess } from 'node:child_process'
import { AppError } from '@sandyard/kit/errors/app-error'
import type { Engine } from '../engine.ts'
import { containerProcess } from './container-process.ts'
import type { Container } from './container.ts'
import { withLock } from '../work/lock.ts'
import { isRunning, startMain, stopAll } from './main-process.ts'

/** Starts the main process, unless it runs: then the result is undefined. What an earlier one left in the container is ended before. */
export async function startContainer(engine: Engine, id: string): Promise<ChildProcess | undefined> {
  return withLock(`dev container ${id.slice(0, 12)}`, async () => {
    const container = await engine.containers.get(id)
    if (await isRunning(container)) return undefined
    await stopAll(container, 0)
    return startStopped(engine, container)
  })
}

async function startStopped(
  { config: { proot }, containers, environment: outerEnvironment }: Engine,
  container: Container,
): Promise<ChildProcess> {
  const command = [...(container.config.Entrypoint ?? []), ...(container.config.Cmd ?? [])]
  if (command.length === 0) throw new AppError('invalid_argument', 'The image has no command, and none is given')
  const root = containers.rootOf(container.id)
  const { words, environment } = await containerProcess(container, { proot, root, outerEnvironment, command, endsAll: true })
  const { main, child } = await startMain(words, { environment, log: containers.logOf(container.id) })
  await containers.save({ ...container, main })
  return child
}
